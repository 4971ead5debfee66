#pragma once
// Links that were heard against those that are planned.
//
// Planned links and heard ones are two matchings of the ports. Where they differ, ports form circles, along which planned
// and heard links take turns; a circle of n heard links is mended by n - 1 exchanges of two cables' ends, and by no fewer.
// Where a heard link is missing the circle is open: then a cable is moved to a port that is free.

#include <optional>
#include <span>
#include <vector>

#include "analysis/orchestrator/orchestrator_result.h"
#include "fabric/topology/topology.h"

namespace mrclab::analysis {

/// What a port heard, first and last.
struct PortHearing {
  std::optional<PortRef> peer;  ///< empty: nobody, or `stranger`
  std::string stranger;         ///< not a port of this fabric
  FabricTime since;             ///< of this neighbour
};

/// `hearing[node][port]`. Ports of nodes that do not speak LLDP are left out. Findings in the order of ports.
std::vector<OrchestratorFinding> cabling_difference(
    const Topology& topology, const std::vector<std::vector<PortHearing>>& hearing);

/// Do both ends of this link send LLDP frames?
bool speaks_lldp(const Topology& topology, NodeId node);

}  // namespace mrclab::analysis
