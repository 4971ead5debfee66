#include "routing/rib/attribute_pool.h"

#include <algorithm>
#include <utility>

namespace mrclab::routing {

AttributePool::Shared AttributePool::intern(PathAttributes attributes) {
  const auto at = sets_.lower_bound(attributes);
  if (at != sets_.end() && **at == attributes) return *at;
  auto made = std::make_shared<const PathAttributes>(std::move(attributes));
  // A sweep may take away what `at` points to.
  if (sets_.size() < sweep_at_) return *sets_.insert(at, std::move(made));
  sweep_unused();
  return *sets_.insert(std::move(made)).first;
}

/// Sweeps cost as much as the table is long, and come when it has doubled.
void AttributePool::sweep_unused() {
  std::erase_if(sets_, [](const Shared& attributes) { return attributes.use_count() == 1; });
  sweep_at_ = std::max(kLeastBeforeSweep, sets_.size() * 2);
}

}  // namespace mrclab::routing
