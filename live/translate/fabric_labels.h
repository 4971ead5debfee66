#pragma once
// A fabric file's keys besides its graph (rates, latencies, routing, ...), as labels of another lab's topology,
// so that an exported fabric comes back whole.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fabric/topology/fabric_shape.h"

namespace mrclab::lab {

inline constexpr std::string_view kRoleLabel = "mrclab-role";  ///< host, t0, t1 or switch
inline constexpr std::string_view kNodeLabel = "mrclab-node";  ///< the node's name in the fabric
inline constexpr std::string_view kUsidLabel = "mrclab-usid";  ///< of a listed switch: "0100"
/// Where topology viewers draw a node; 1 is the uppermost row.
inline constexpr std::string_view kLevelLabel = "graph-level";

/// Labels and values of everything that is not as in a file without it: "mrclab-pmtu", "1024".
std::vector<std::pair<std::string, std::string>> fabric_labels(const FabricShape& shape);

/// The fabric file's key that a label stands for: "pmtu". Empty if it stands for none.
std::string fabric_key(std::string_view label);

}  // namespace mrclab::lab
