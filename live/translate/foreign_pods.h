#pragma once
// Three tiers in the graph of somebody else's topology: pods of T0s and T1s below T2s, as a fabric file numbers them.

#include <cstdint>
#include <optional>
#include <vector>

#include "fabric/topology/fabric_shape.h"

namespace mrclab::lab {

struct ForeignPods {
  uint32_t pods = 0;
  T2Links links = T2Links::kGroup;
  std::vector<uint32_t> rows;                   ///< in our order: pod by pod
  std::vector<std::vector<uint32_t>> t1s, t2s;  ///< by plane, in our order
};

/// In so many switches with these links; `t0_by_row`: the T0s of each row of hosts, by plane. Empty where the planes are no
/// pods of as many T0s and T1s each, whose T1s are linked with groups of T2s or with all of them, alike in all planes.
std::optional<ForeignPods> find_pods(size_t switches, const std::vector<GraphShape::Link>& links,
                                     const std::vector<std::vector<uint32_t>>& t0_by_row);

}  // namespace mrclab::lab
