#pragma once
// What a node has counted since it began, under our words (counter_table.h).

#include <cstdint>
#include <map>
#include <string>

#include "fabric/base/units.h"

namespace mrclab::telemetry {

/// Of a switch: "u1.trimmed", "total.rx". Of a host: "timeouts", "refused.bad_icrc", "planes.0.tx_packets",
/// "qp_errors.<reason>".
using NamedCounts = std::map<std::string, uint64_t, std::less<>>;

struct CountedNode {
  FabricTime until;  ///< everything before this instant is counted
  NamedCounts counts;
};

}  // namespace mrclab::telemetry
