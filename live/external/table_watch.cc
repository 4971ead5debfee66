#include "live/external/table_watch.h"

#include <algorithm>
#include <utility>

namespace mrclab::lab {

std::optional<std::string> TableWatch::find_difference(NodeId node) {
  NodeSnapshot now = read_(node);
  std::sort(now.begin(), now.end());
  const auto known = known_.find(node);
  if (known == known_.end()) {
    known_[node] = std::move(now);
    return std::nullopt;
  }
  const NodeSnapshot before = std::exchange(known->second, std::move(now));
  return first_difference(before, known->second);
}

}  // namespace mrclab::lab
