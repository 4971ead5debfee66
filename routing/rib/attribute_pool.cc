#include "routing/rib/attribute_pool.h"

#include <algorithm>
#include <utility>

#include "fabric/base/random.h"

namespace mrclab::routing {

size_t AttributePool::Hash::operator()(const PathAttributes& attributes) const {
  uint64_t hash = static_cast<uint64_t>(attributes.origin);
  const auto mix = [&](uint64_t value) { hash = mix64(hash ^ value); };
  for (const AsSegment& segment : attributes.as_path.segments()) {
    for (const AsNumber number : segment.numbers) mix(number.value);
  }
  for (size_t at = 0; at < attributes.next_hop.size(); at += 8) {
    mix(load_be<uint64_t>(&attributes.next_hop[at]));
  }
  for (const ExtendedCommunity& one : attributes.extended) {
    mix(load_be<uint64_t>(one.octets.data()));
  }
  return hash;
}

AttributePool::Shared AttributePool::intern(PathAttributes attributes) {
  if (const auto found = sets_.find(attributes); found != sets_.end()) return *found;
  if (sets_.size() >= sweep_at_) sweep_unused();
  return *sets_.insert(std::make_shared<const PathAttributes>(std::move(attributes))).first;
}

/// Sweeps cost as much as the table is long, and come when it has doubled.
void AttributePool::sweep_unused() {
  std::erase_if(sets_, [](const Shared& attributes) { return attributes.use_count() == 1; });
  sweep_at_ = std::max(kLeastBeforeSweep, sets_.size() * 2);
}

}  // namespace mrclab::routing
