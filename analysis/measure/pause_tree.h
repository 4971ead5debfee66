#pragma once
// Who paused whom, as a tree from the root. A port stands because its neighbour asked it to. The neighbour
// asked because it could not pass on what it had: it stood paused itself, toward a third one, and so on. Who
// asks without being asked is a root: a host whose NIC takes in too little, or a switch with too much for one
// of its ports.
//
//   h3's NIC                  asked by none
//     p0.t0-1:d3              stood, because h3 asked
//       p0.t1-0:d1            stood, because p0.t0-1 asked, which stood toward h3
//         p0.t0-0:u0

#include <string>
#include <vector>

#include "analysis/history/lossless_turns.h"
#include "analysis/measure/pause_times.h"

namespace mrclab::analysis {

/// A port that stood paused, below what made its neighbour ask.
struct PausedPort {
  static constexpr uint32_t kRoot = 0xFFFF'FFFF;
  PortRef port;
  NodeId asked_by;
  uint32_t above =
      kRoot;           ///< index of the paused port of `asked_by`; kRoot: it stood nowhere itself
  uint32_t depth = 0;  ///< 0: below a root
  FabricTime first;    ///< when it stood for the first time, for that reason
  FabricTime stood;    ///< how long in all
  uint64_t times = 0;
};

struct PauseTree {
  static constexpr size_t kMaxPlaces = 4096;
  /// Depth first; siblings by how long they stood, the longest first.
  std::vector<PausedPort> places;
  FabricTime from, until;  ///< the interval
  bool cut = false;        ///< there were more than kMaxPlaces
};

/// A pause counts as the cause of another that begins up to this long after its end: a port drains
/// what it held back soon. One base RTT (our choice).
PauseTree pause_tree(const Topology& topology, const PauseTimes& times, const LosslessTurns& turns,
                     FabricTime from, FabricTime until);

/// "h3's NIC", or the name of a switch.
std::string pauser_name(const Topology& topology, NodeId node);

}  // namespace mrclab::analysis
