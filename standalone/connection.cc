#include "standalone/connection.h"

#include <cerrno>
#include <stdexcept>
#include <variant>

namespace mrclab::standalone {

Connection connect(StandaloneEndpoint& end, netio::LineChannel& channel, endpoint::CqHandle cq,
                   const endpoint::MemoryRegion& inbox) {
  endpoint::Device& device = end.device();
  QueuePairInfo mine;
  mine.qpn = device.create_queue_pair({cq, cq});
  mine.psn = device.draw_first_psn(mine.qpn);
  mine.region = inbox;
  mine.attributes = end.offer();
  channel.send(to_line(mine));
  const QueuePairInfo theirs = parse_queue_pair_info(channel.receive(kPeerPatience));
  const auto result = negotiate(mine.attributes, theirs.attributes);
  if (const auto* why = std::get_if<std::string>(&result)) throw std::invalid_argument(*why);
  const auto& limits = std::get<endpoint::ConnectionLimits>(result);
  const auto units = [](uint32_t psns) { return static_cast<uint8_t>(psns / endpoint::kMprUnit); };

  device.modify(mine.qpn, endpoint::InitAttributes{});
  endpoint::ReadyToReceiveAttributes receive;
  receive.remote_address = end.remote_address();
  receive.remote_qpn = theirs.qpn;
  receive.rq_psn = theirs.psn;
  receive.max_wimm_dest = static_cast<uint16_t>(limits.receiving.max_immediates);
  receive.mpr_dest = units(limits.receiving.max_psn_range);
  receive.dynamic_mpr_dest = limits.receiving.dynamic_mpr;
  receive.service_time_dest = limits.receiving.service_time;
  device.modify(mine.qpn, receive);
  endpoint::ReadyToSendAttributes send;
  send.sq_psn = mine.psn;
  send.max_wimm = static_cast<uint16_t>(limits.sending.max_immediates);
  send.mpr = units(limits.sending.max_psn_range);
  send.service_time = limits.sending.service_time;
  device.modify(mine.qpn, send);
  meet(end, channel, "ready");
  return {mine.qpn, theirs.region};
}

void meet(StandaloneEndpoint& end, netio::LineChannel& channel, std::string_view word) {
  channel.send(state_line(word));
  if (!end.run_until([&channel] { return channel.ready(); }, std::chrono::minutes(10))) {
    throw netio::SystemError("wait for the peer", ETIMEDOUT);
  }
  require_state(channel.receive(kPeerPatience), word);
}

}  // namespace mrclab::standalone
