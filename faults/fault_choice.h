#pragma once
// Which kinds of faults parts of a fabric that somebody has chosen can have, and the body that each begins with: the
// keys that name the target there, and the parameters that the example in the table has.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fabric/topology/topology.h"
#include "faults/fault_kind.h"

namespace mrclab::faults {

/// Parts of a fabric that are chosen together. The ids exist.
struct Choice {
  std::vector<LinkId> links = {};
  std::vector<NodeId> nodes = {};
  std::vector<OpticId> optics = {};
  std::vector<uint32_t> planes = {};
};

/// Keys and values of a body, in the order in which they are written.
using BodyWords = std::vector<std::pair<std::string, std::string>>;

/// The keys that name the target; empty where faults of this kind cannot have all that is chosen as theirs.
std::optional<BodyWords> targets_for(const FaultInfo& kind, const Choice& chosen,
                                     const Topology& topology);
/// The parameters that the kind's example has.
BodyWords usual_parameters(const FaultInfo& kind);

}  // namespace mrclab::faults
