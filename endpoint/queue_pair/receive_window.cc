#include "endpoint/queue_pair/receive_window.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace mrclab::endpoint {

// 64 more than the range: a bitmap that starts inside the window must not meet its other end.
ReceiveWindow::ReceiveWindow(uint32_t max_psn_range)
    : range_(max_psn_range),
      mask_(std::bit_ceil(size_t{max_psn_range} + 64) - 1),
      words_((mask_ + 1) / 64) {}

bool ReceiveWindow::has(Sequence s) const {
  const size_t bit = static_cast<size_t>(s) & mask_;
  return (words_[bit / 64] >> bit % 64 & 1) != 0;
}

ReceiveWindow::Position ReceiveWindow::classify(Sequence s) const {
  if (s > cumulative_ + range_) return Position::kAhead;
  if (s > cumulative_) return has(s) ? Position::kDuplicate : Position::kNew;
  return s > cumulative_ - range_ && s >= 0 ? Position::kDuplicate : Position::kFarPast;
}

uint64_t ReceiveWindow::bitmap(Sequence base) const {
  assert(base > cumulative_);
  const size_t bit = static_cast<size_t>(base) & mask_;
  const size_t word = bit / 64;
  const unsigned shift = bit % 64;
  const uint64_t low = words_[word] >> shift;
  if (shift == 0) return low;
  return low | words_[word + 1 == words_.size() ? 0 : word + 1] << (64 - shift);
}

void ReceiveWindow::accept(Sequence s, bool last, uint32_t message_bytes,
                           std::optional<uint32_t> immediate) {
  assert(classify(s) == Position::kNew);
  const size_t bit = static_cast<size_t>(s) & mask_;
  words_[bit / 64] |= uint64_t{1} << bit % 64;
  slots_.make_room(cumulative_ + 1, highest_ + 1, s + 1);
  slots_[s] = {immediate.value_or(0), message_bytes, last, immediate.has_value()};
  highest_ = std::max(highest_, s);
  ++out_of_order_;
}

bool ReceiveWindow::advance() {
  while (has(cumulative_ + 1)) {
    const size_t bit = static_cast<size_t>(++cumulative_) & mask_;
    words_[bit / 64] &= ~(uint64_t{1} << bit % 64);
    --out_of_order_;
    if (slots_[cumulative_].last) return true;
  }
  return false;
}

ReceiveWindow::MessageEnd ReceiveWindow::message_end() const {
  const Slot& slot = slots_[cumulative_];
  assert(slot.last);
  MessageEnd end{slot.bytes, std::nullopt};
  if (slot.has_immediate) end.immediate = slot.immediate;
  return end;
}

}  // namespace mrclab::endpoint
