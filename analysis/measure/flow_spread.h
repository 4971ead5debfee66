#pragma once
// How data was spread over the uplinks of the T0s where it starts: hash collisions of flows that keep to one
// path, and how even the load is. By first transmissions alone.

#include <optional>
#include <string>
#include <vector>

#include "analysis/history/packet_history.h"

namespace mrclab::analysis {

/// Flows within one T0 need no uplink and count nowhere. Where the expected value is asked for: n flows thrown
/// on m uplinks at random use 1 - (1 - 1/m)^n of them.
struct FlowSpread {
  uint32_t flows = 0;     ///< directions of queue pairs that sent data over uplinks
  uint32_t one_path = 0;  ///< flows that used one uplink all the time
  uint32_t sharing = 0;   ///< flows of `one_path` whose uplink carried another such flow
  uint32_t most = 0;      ///< most of them on one uplink
  uint32_t uplinks = 0;   ///< all uplinks of the T0s whose hosts sent data
  uint32_t used = 0;      ///< uplinks of those T0s that carried data
  uint32_t shared = 0;    ///< uplinks that carried more than one flow of `one_path`
  /// How many uplinks carried so many flows of `one_path`: [0] none, up to [most].
  std::vector<uint32_t> uplinks_by_flows = {};
  std::string busiest;         ///< the port that most packets left by: "p0.t0-1:u3"
  double busiest_to_mean = 0;  ///< its packets, over the mean of all those uplinks
};

/// Empty where nothing was sent over uplinks, or which ones is not known: in a listed fabric, where switches
/// that are not ours hash, and where switches choose for each packet (`adaptive_routing`).
std::optional<FlowSpread> flow_spread(const Topology& topology, const PacketHistory& history);

/// "flows per uplink: none on 3, one on 3, 2 on 1; 1 of 8 uplinks carries more than one". Empty where no flow kept
/// to one path.
std::string flows_per_uplink(const FlowSpread& spread);

}  // namespace mrclab::analysis
