#include "analysis/measure/message_times.h"

#include <algorithm>

namespace mrclab::analysis {
namespace {

/// When its first attempt began to leave.
FabricTime first_start(const PacketHistory& history, const Packet& packet) {
  FabricTime start = FabricTime::never();
  for (uint32_t at = packet.last; at != Attempt::kNone; at = history.attempts()[at].previous) {
    start = history.attempts()[at].start;  // the first attempt comes last
  }
  return start;
}

}  // namespace

std::vector<MessageTime> messages_of(const PacketHistory& history, uint32_t flow) {
  std::vector<MessageTime> messages;
  bool inside = false;  // more packets of the newest message follow
  bool whole = false;   // all of its packets so far have arrived
  FabricTime latest;
  for (const uint32_t number : history.in_order(flow)) {
    const Packet* const packet = number == Attempt::kNone ? nullptr : &history.packets()[number];
    const bool placed = packet != nullptr && packet->placement != Attempt::kNone &&
                        !history.placement(*packet).nowhere;
    if (placed && history.placement(*packet).first) {
      const Bytes size{history.placement(*packet).message_bytes};
      messages.push_back({flow, size, first_start(history, *packet)});
      inside = whole = true;
      latest = FabricTime::zero();
    }
    if (!inside) continue;
    whole = whole && placed && packet->delivered != FabricTime::never();
    if (whole) latest = std::max(latest, packet->delivered);
    if (!placed || !history.placement(*packet).last) continue;
    if (whole) messages.back().arrived = latest;
    inside = false;
  }
  return messages;
}

FabricTime time_at_thousandth(std::vector<FabricTime> times, size_t thousandths) {
  std::sort(times.begin(), times.end());
  return times[(times.size() * thousandths + 999) / 1000 - 1];
}

FabricTime time_at_rank(std::vector<FabricTime> times, size_t percent) {
  return time_at_thousandth(std::move(times), percent * 10);
}

std::optional<MessageTimes> message_times(std::span<const MessageTime> messages, FabricTime end) {
  if (messages.empty()) return std::nullopt;
  MessageTimes times;
  times.messages = messages.size();
  std::vector<FabricTime> all;
  all.reserve(messages.size());
  for (const MessageTime& message : messages) {
    const FabricTime time = message.time(end);
    const bool open = message.arrived > end;
    times.open += open ? 1 : 0;
    FabricTime& longest = open ? times.longest_open : times.longest_finished;
    longest = std::max(longest, time);
    all.push_back(time);
  }
  times.max = *std::max_element(all.begin(), all.end());
  times.p50 = time_at_rank(all, 50);
  times.p99 = time_at_rank(std::move(all), 99);
  return times;
}

std::optional<MessageTimes> message_times(const PacketHistory& history, FabricTime end) {
  std::vector<MessageTime> all;
  for (uint32_t flow = 0; flow < history.flows().size(); ++flow) {
    for (const MessageTime& message : messages_of(history, flow)) {
      if (message.began < end) all.push_back(message);
    }
  }
  return message_times(all, end);
}

}  // namespace mrclab::analysis
