#pragma once
// What an orchestrator found, as verdicts carry it.

#include <cstdint>
#include <string>
#include <vector>

#include "fabric/base/ids.h"
#include "fabric/base/units.h"

namespace mrclab::analysis {

enum class FindingKind : uint8_t {
  kMiscabled,  ///< cables that lead elsewhere than planned, one circle of them
  kMissing,    ///< no end of a planned link was heard at the other
  kOneWay,     ///< only one end was heard
  kUnknown,    ///< a neighbour that is no port of the fabric
  kKeptOut,    ///< a switch that is not in service at the end
};

struct OrchestratorFinding {
  FindingKind kind = FindingKind::kMissing;
  std::vector<std::string> parts;      ///< ports, or the switch
  std::vector<std::string> sentences;  ///< one for each cable
  std::vector<std::string> remedies;   ///< exchanges of cables, the fewest that mend it
  FabricTime named;                    ///< when its last part was known
};

/// A switch passed from one phase of being provisioned to the next.
struct ServiceStep {
  FabricTime t;
  std::string node, phase, why;
};

/// A link as it was heard, by its ports' names.
struct HeardLink {
  std::string a, b;
};

struct OrchestratorResult {
  FabricTime period;
  uint64_t links = 0;            ///< planned, between nodes that speak LLDP
  uint64_t as_planned = 0;       ///< of these heard by both ends
  FabricTime all_heard;          ///< when the last port heard its first neighbour
  std::vector<HeardLink> heard;  ///< in the order of ports
  std::vector<OrchestratorFinding> found;
  std::vector<ServiceStep> services;
  std::string none;  ///< why nothing can be said; empty: it can
};

}  // namespace mrclab::analysis
