#include "endpoint/queue_pair/receive_buffer.h"

#include <algorithm>

namespace mrclab::endpoint {

namespace {

// Packets are kept in cells of so many bytes (our choice), which bounds how many packets there are.
constexpr uint64_t kCell = 64;
// What a penalty consists of, in 1/128 of what is acknowledged (rcv_cwnd_pen).
constexpr uint64_t kGrowthPart = 24;
constexpr uint64_t kExcessPart = 64;
constexpr uint64_t kLevelPart = 32;
constexpr uint64_t kMost = 127;

}  // namespace

void ReceiveBuffer::advance(FabricTime now) {
  now_ = std::max(now_, now);
  if (at_once()) {
    in_memory_ = taken_;
  } else if (!stalled_) {
    in_memory_ = std::min(taken_, in_memory_then_ + bytes_in(rate_, now_ - since_).value);
  }
  if (in_memory_ == taken_ || stalled_) {
    since_ = now_;
    in_memory_then_ = in_memory_;
  }
  if (now_ >= period_end_) end_period();
  if (!stalled_ && held() <= size_ / 4) stall_ = false;
}

void ReceiveBuffer::set_rate(BitRate rate) {
  rate_ = rate;
  since_ = now_;
  in_memory_then_ = in_memory_;
}

void ReceiveBuffer::set_stalled(bool stalled) {
  stalled_ = stalled;
  stall_ = stall_ || stalled;
  since_ = now_;
  in_memory_then_ = in_memory_;
}

bool ReceiveBuffer::offer(Bytes payload) {
  const uint64_t size = std::max(payload.value, kCell);
  offered_ += size;
  if (held().value > 0 && held().value + size > size_.value) return false;
  taken_ += size;
  if (at_once()) in_memory_ = taken_;
  return true;
}

FabricTime ReceiveBuffer::in_memory_at(Bytes count) const {
  if (count.value <= in_memory_) return now_;
  if (stalled_) return FabricTime::never();
  if (at_once()) return now_;
  return since_ + serialization_time({count.value - in_memory_then_}, rate_);
}

void ReceiveBuffer::end_period() {
  const uint64_t drained = stalled_ ? 0 : at_once() ? offered_ : bytes_in(rate_, period_).value;
  excess_ = offered_ > drained ? kExcessPart * (offered_ - drained) / offered_ : 0;
  offered_ = 0;
  period_end_ = now_ + period_;
}

uint8_t ReceiveBuffer::penalty(uint8_t of_share) const {
  const Bytes quarter = size_ / 4;
  if (held() <= quarter) return of_share;
  const uint64_t above =
      kLevelPart * (held() - quarter).value / std::max<uint64_t>((size_ - quarter).value, 1);
  static_assert(kGrowthPart + kExcessPart + kLevelPart < 128);
  const uint64_t growth = std::max<uint64_t>(kGrowthPart, of_share);
  return static_cast<uint8_t>(std::min(growth + excess_ + std::min(above, kLevelPart), kMost));
}

}  // namespace mrclab::endpoint
