#pragma once
// What a denylist did, as verdicts carry it: read from the events of the collector, which decides, and of hosts, which
// have a list in force.

#include <optional>
#include <string>
#include <vector>

#include "analysis/history/coverage.h"
#include "analysis/history/event_history.h"
#include "fabric/topology/topology.h"

namespace mrclab::analysis {

struct DenialSpan {
  std::string part, why;
  FabricTime at;                             ///< the collector denied it
  uint32_t hosts = 0;                        ///< that have left it out
  FabricTime reached;                        ///< the last of them did
  FabricTime allowed = FabricTime::never();  ///< by the collector
  FabricTime back = FabricTime::never();     ///< at the last host
};

struct DenylistResult {
  struct Capped {
    FabricTime at;
    std::string part, why;
  };
  std::string collector;
  uint32_t hosts = 0;  ///< number of hosts of the fabric
  uint64_t lists = 0;  ///< that were decided
  uint64_t expired = 0;
  uint64_t left_out = 0;  ///< the most parts that hosts left in use, at one time, all together
  std::vector<DenialSpan> spans;  ///< in the order in which they were denied
  std::vector<Capped> capped;
  std::string none;  ///< why nothing can be said; empty: it can
};

/// Empty where the fabric has none.
std::optional<DenylistResult> denylist_result(const Topology& topology, const EventHistory& events,
                                              const Coverage& coverage);

}  // namespace mrclab::analysis
