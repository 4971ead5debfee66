#include "live/external/node_difference.h"

#include <algorithm>
#include <iterator>

namespace mrclab::lab {

std::optional<std::string> first_difference(const NodeSnapshot& before, const NodeSnapshot& after) {
  const auto only_in = [](const NodeSnapshot& a, const NodeSnapshot& b) {
    std::vector<std::string> lines;
    std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(lines));
    return lines;
  };
  if (const auto missing = only_in(before, after); !missing.empty()) {
    return "missing: " + missing.front();
  }
  if (const auto added = only_in(after, before); !added.empty()) return "new: " + added.front();
  return std::nullopt;
}

}  // namespace mrclab::lab
