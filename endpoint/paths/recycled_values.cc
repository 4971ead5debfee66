#include "endpoint/paths/recycled_values.h"

#include <algorithm>
#include <utility>

namespace mrclab::endpoint {

void RecycledValues::recycle(uint32_t value) {
  ring_[head_] = {value, true};
  head_ = (head_ + 1) % kSlots;
  filled_ = std::min(filled_ + 1, kSlots);
}

std::optional<uint32_t> RecycledValues::next(FabricTime now) {
  thaw_if_due(now);
  if (exploring_ > 0) {
    --exploring_;
    return std::nullopt;
  }
  if (frozen_until_) {
    if (filled_ == 0) return std::nullopt;
    const uint32_t slot = frozen_at_ % filled_;
    frozen_at_ = slot + 1;
    return ring_[slot].value;
  }
  for (uint32_t back = kSlots; back > 0; --back) {
    Slot& slot = ring_[(head_ + kSlots - back) % kSlots];
    if (std::exchange(slot.fresh, false)) return slot.value;
  }
  return std::nullopt;
}

void RecycledValues::freeze(FabricTime now, FabricTime until) {
  thaw_if_due(now);
  if (exploring_ > 0 || frozen_until_) return;
  frozen_until_ = until;
  frozen_at_ = 0;
}

void RecycledValues::thaw_if_due(FabricTime now) {
  if (!frozen_until_ || now < *frozen_until_) return;
  *this = {};
  exploring_ = kExploring;
}

}  // namespace mrclab::endpoint
