#include "analysis/history/rc_messages_seen.h"

#include <algorithm>

namespace mrclab::analysis {

std::optional<Placement> RcMessagesSeen::placement_of(uint64_t flow, const MrcPacket& packet) {
  const auto& request = std::get<RcHeaders>(packet.extension);
  const Opcode opcode = packet.bth.opcode;
  if (is_send(opcode)) return std::nullopt;
  Flow& seen = flows_[flow];
  std::deque<Message>& messages = seen.messages;
  const auto covers = [&](const Message& m) {
    const int64_t place = packet.bth.psn - m.first;
    return place >= 0 && place < m.packets;
  };
  // Most messages come behind all others, and are not looked for among those.
  const bool behind_all = seen.end && packet.bth.psn - *seen.end >= 0;
  auto found = behind_all ? messages.end() : std::find_if(messages.begin(), messages.end(), covers);
  if (request.reth && (found == messages.end() || found->first != packet.bth.psn)) {
    const int64_t packets = (int64_t{request.reth->dma_length} + pmtu_ - 1) / pmtu_;
    messages.push_front({packet.bth.psn, *request.reth, packets});
    const Psn end = packet.bth.psn + static_cast<int32_t>(packets);
    if (!seen.end || end - *seen.end > 0) seen.end = end;
    if (messages.size() > kKept) messages.pop_back();
    found = messages.begin();
  }
  if (found == messages.end()) return std::nullopt;
  const int64_t place = packet.bth.psn - found->first;
  Placement placement;
  placement.va = found->reth.va + static_cast<uint64_t>(place) * pmtu_;
  placement.rkey = found->reth.rkey;
  placement.message_bytes = found->reth.dma_length;
  placement.payload_bytes = static_cast<uint32_t>(packet.payload_length);
  placement.msn = static_cast<uint16_t>(found->first.value());  // RC has no number of messages here
  placement.first = is_first(opcode);
  placement.last = is_last(opcode);
  return placement;
}

}  // namespace mrclab::analysis
