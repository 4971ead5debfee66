#include "endpoint/queue_pair/receive_shares.h"

#include <algorithm>
#include <utility>

namespace mrclab::endpoint {

namespace {

// Averages and penalties are kept as integers of 1 / kScale.
constexpr uint64_t kScale = 256;
constexpr uint64_t kPenaltyUnits = 128;  // rcv_cwnd_pen is in 1/128 (MRC specification, CC_STATE)
constexpr uint64_t kPacketsPerMemory = 2;
constexpr uint64_t kLeastMemory = 4;  // periods
constexpr uint64_t kMostMemory = 64;  // periods
constexpr uint32_t kForgotten = 32;   // periods of silence after which a sender does not count
// A port that is filled to kIdlePercent asks for no penalty, a full one for the whole penalty.
constexpr uint64_t kIdlePercent = 80;
constexpr int64_t kMostPeriods = 64;  // the most periods to catch up with after a pause

}  // namespace

void ReceiveShares::end_periods(uint32_t ports, FabricTime now) {
  const int64_t over = std::min((now - period_end_) / period_ + 1, kMostPeriods);
  for (int64_t i = 0; i < over; ++i) end_period(per_port_ * ports);
  period_end_ = now + period_;
}

uint32_t ReceiveShares::add_sender(uint32_t host) {
  const auto index = static_cast<uint32_t>(senders_.size());
  index_of_host_.set(host, index);
  senders_.emplace_back();
  return index;
}

void ReceiveShares::end_period(Bytes port_capacity) {
  const bool slow_memory = drained_.value > 0 && drained_ < port_capacity;
  const Bytes capacity = slow_memory ? drained_ : port_capacity;
  uint64_t count = 0;
  for (Sender& sender : senders_) {
    sender.silent = sender.current > 0 ? 0 : std::min(sender.silent + 1, kForgotten);
    if (sender.silent < kForgotten) ++count;
  }
  const uint64_t memory =
      std::clamp(kPacketsPerMemory * count * packet_.value / std::max<uint64_t>(capacity.value, 1),
                 kLeastMemory, kMostMemory);
  uint64_t all = 0;
  for (Sender& sender : senders_) {
    sender.average -= sender.average / memory;
    sender.average += sender.current * kScale / memory;
    sender.current = 0;
    sender.per_packet = 0;
    if (sender.silent < kForgotten) all += sender.average;
  }
  wire_average_ -= wire_average_ / memory;
  wire_average_ += std::exchange(wire_current_, 0) * kScale / memory;
  const uint64_t filled = slow_memory ? all : std::max(all, wire_average_);
  const uint64_t full = capacity.value * kScale;
  const uint64_t idle = full * kIdlePercent / 100;
  // Without a live port there is nothing to share; what still arrives was under way when the last one failed.
  if (count < 2 || filled <= idle || full == 0) return;
  const uint64_t most = kPenaltyUnits * kScale * (std::min(filled, full) - idle) / (full - idle);
  const uint64_t mean = std::max<uint64_t>(all / count, 1);
  for (Sender& sender : senders_) {
    if (sender.silent == kForgotten) continue;
    sender.per_packet =
        std::min(most * sender.average / (2 * memory * mean), kPenaltyUnits * kScale / 4);
  }
}

uint8_t ReceiveShares::penalty(uint32_t host) {
  const uint32_t index = index_of_host_.find(host);
  if (index == HostIndex::kNone) return 0;
  Sender& sender = senders_[index];
  sender.carried += sender.per_packet;
  const uint64_t whole = sender.carried / kScale;
  sender.carried %= kScale;
  return static_cast<uint8_t>(whole);
}

}  // namespace mrclab::endpoint
