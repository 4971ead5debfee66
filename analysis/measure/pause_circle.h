#pragma once
// Circles of ports, each paused because of the next: what a deadlock of flow control needs (a cyclic
// buffer dependency). A port waits for another one if its neighbour asked it to stop, stands itself at the
// other one, and RoCE's data took that way through the neighbour at some time of the run. A circle that stands
// for long is no proof, as a host that pauses without end may hold all of it; but there is no deadlock
// without one.

#include <vector>

#include "analysis/history/lossless_turns.h"
#include "analysis/measure/pause_times.h"

namespace mrclab::analysis {

struct PauseCircle {
  std::vector<PortRef>
      ports;               ///< each stands because of the next one, the last because of the first
  FabricTime from, until;  ///< all of them stood
};

inline constexpr size_t kMaxCircles = 64;

/// Circles that stood for `least` or longer, without a gap at any of their ports, in the order in which they
/// begin; of the same ports the first. At most kMaxCircles.
std::vector<PauseCircle> pause_circles(const Topology& topology, const PauseTimes& times,
                                       const LosslessTurns& turns, FabricTime least);

}  // namespace mrclab::analysis
