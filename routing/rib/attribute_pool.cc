#include "routing/rib/attribute_pool.h"

#include <algorithm>
#include <utility>

namespace mrclab::routing {

namespace {

size_t octets_of(const PathAttributes& attributes) {
  size_t octets = sizeof attributes;
  for (const AsSegment& segment : attributes.as_path.segments()) {
    octets += sizeof segment + segment.numbers.size() * sizeof(AsNumber);
  }
  octets += attributes.communities.size() * sizeof(uint32_t);
  octets += attributes.extended.size() * sizeof(ExtendedCommunity);
  for (const UnknownAttribute& unknown : attributes.unknown) {
    octets += sizeof unknown + unknown.value.size();
  }
  return octets;
}

}  // namespace

AttributePool::Shared AttributePool::intern(PathAttributes attributes) {
  const auto at = sets_.lower_bound(attributes);
  if (at != sets_.end() && **at == attributes) return *at;
  octets_ += octets_of(attributes);
  auto made = std::make_shared<const PathAttributes>(std::move(attributes));
  // A sweep may take away what `at` points to.
  if (sets_.size() < sweep_at_) return *sets_.insert(at, std::move(made));
  sweep_unused();
  return *sets_.insert(std::move(made)).first;
}

bool AttributePool::fits(size_t limit) {
  if (octets_ <= limit) return true;
  sweep_unused();
  return octets_ <= limit - limit / 8;
}

/// Sweeps cost as much as the table is long, and come when it has doubled.
void AttributePool::sweep_unused() {
  std::erase_if(sets_, [this](const Shared& attributes) {
    const bool unused = attributes.use_count() == 1;
    if (unused) octets_ -= octets_of(*attributes);
    return unused;
  });
  sweep_at_ = std::max(kLeastBeforeSweep, sets_.size() * 2);
}

}  // namespace mrclab::routing
