#pragma once
// Which paths queue pairs used in an interval, and which they did not use at its end: the page's matrix of entropy values.

#include <nlohmann/json.hpp>

#include "fabric/base/units.h"
#include "fabric/topology/ev_path.h"
#include "session/recording/recording.h"

namespace mrclab::lab {

struct PathsUsed {
  /// As data packets show: [source, destination, the destination's queue pair, entropy value, "p3/u1", sent, lost,
  /// trimmed, marked], of hosts by number.
  nlohmann::json cells;
  uint64_t unknown = 0;  ///< packets whose records do not name their hosts
};
/// The instant `from` is kept.
PathsUsed paths_used(const Recording& recording, const Topology& topology, FabricTime from,
                     FabricTime to);

/// The states that hosts reported, up to an instant, for paths that are not in normal use, in the judge's words
/// (analysis/measure/path_states.h): [host, its queue pair, "p3/u1" or, for a plane whose ports are down, "p3", state].
nlohmann::json paths_out(const Recording& recording, const Topology& topology, FabricTime at);

/// The numbers of the links of a path between two hosts that exist, as built: what the page lights. None where switches
/// choose by tables that change, or the fabric has no such path.
std::vector<uint32_t> links_of_path(const Topology& topology, uint32_t source, uint32_t destination,
                                    Path path);

}  // namespace mrclab::lab
