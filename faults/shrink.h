#pragma once
// Finds smaller sets of faults with the same result. Pure: a predicate decides whether a set has
// the result; it may run a whole simulation for that, or answer no when its budget is spent.

#include <algorithm>
#include <functional>
#include <vector>

#include "faults/fault.h"

namespace mrclab::faults {

/// Delta debugging (Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input",
/// 2002): drops ever smaller parts of the list. The result fulfils the predicate, which `items` is
/// taken to do, and without any one of its items it does not. At most O(n^2) questions.
template <class Item>
std::vector<Item> minimize(std::vector<Item> items,
                           const std::function<bool(const std::vector<Item>&)>& fulfils) {
  if (!items.empty() && fulfils({})) return {};
  for (size_t parts = 2; items.size() >= 2;) {
    const size_t part = (items.size() + parts - 1) / parts;
    bool smaller = false;
    for (size_t begin = 0; begin < items.size() && !smaller; begin += part) {
      std::vector<Item> rest(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(begin));
      rest.insert(rest.end(),
                  items.begin() + static_cast<std::ptrdiff_t>(std::min(begin + part, items.size())),
                  items.end());
      if (rest.empty() || !fulfils(rest)) continue;
      items = std::move(rest);
      smaller = true;
    }
    if (smaller) {
      parts = std::max<size_t>(parts - 1, 2);
    } else if (part == 1) {
      break;
    } else {
      parts = std::min(parts * 2, items.size());
    }
  }
  return items;
}

/// The fault with as few of its targets as still fulfil the predicate, as `minimize` finds them.
Fault fewest_targets(Fault fault, const Topology& topology,
                     const std::function<bool(const Fault&)>& fulfils);

/// Faults that are a bit less than this one, the boldest first: half of its targets, parameters left at their
/// defaults, half as long, half as much. None that is not a valid fault.
std::vector<Fault> simpler(const Fault& fault, const Topology& topology);

}  // namespace mrclab::faults
