#pragma once
// What pauses did to a run in a few numbers, out of when ports stood paused.

#include <optional>
#include <string>

#include "analysis/measure/pause_times.h"

namespace mrclab::analysis {

struct PauseUse {
  uint32_t ports = 0;        ///< that stood paused at any time
  FabricTime longest;        ///< total time that one of them was paused
  std::string longest_port;  ///< the first of those that were paused longest: "p0.t1-3:d0"
  std::string first_pauser;  ///< the node that asked for the first pause: "p0.t0-1"
};

/// Empty if no port ever stood paused.
std::optional<PauseUse> pause_use(const Topology& topology, const PauseTimes& times);

}  // namespace mrclab::analysis
