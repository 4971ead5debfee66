#pragma once
// Who sends which share of what goes from one host to another, and why, where switches route by themselves:
// `mrclab trace fare h0 h5`. The fabric's switches are simulated until their routes stand, with one link down if that
// is asked; then their tables are read.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "fabric/topology/topology.h"

namespace mrclab::lab {

struct FareQuestion {
  std::string from, to;
  std::optional<std::string> down;  ///< a link, by one of its ports, such as "p1.t0-0:u2"
};

/// {"fabric", "from", "to", "spray", "delays", "down"?, "converged_ps", "weights"?: of planes, where NICs speak, "planes": [{"plane", "arrives": share,
/// "switches": [{"switch", "gets": share, "hops": [{"port", "to", "weight", "share", "mbps"?, "why"}]}]}]}.
/// Shares are those of what the sender puts into that plane, in percent. "converged_ps": the last change of a table
/// after the beginning, or after the link went down. "mbps": what the neighbour announced for the receiver. Throws
/// InputError for hosts and links that are none, and for a fabric whose switches do not route by themselves.
nlohmann::ordered_json explain_fare(const Topology& topology, const FareQuestion& question);
std::string fare_text(const nlohmann::ordered_json& fare);

}  // namespace mrclab::lab
