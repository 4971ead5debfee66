#pragma once
// What a hash makes of the entropy values between two hosts: `mrclab trace ecmp h0 h5`. How many meet
// on one uplink, how even it is, what moves when an uplink is lost, and what a second tier would see.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "fabric/topology/topology.h"

namespace mrclab::lab {

struct EcmpQuestion {
  std::string from, to;             ///< hosts on two T0s
  uint32_t evs = 256;               ///< entropy values of a queue pair, over all planes
  uint64_t seed = 1;                ///< seed of the run, from which they are drawn
  std::optional<std::string> down;  ///< an uplink of the sender's T0s, such as "p1.t0-0:u2"
};

/// {"fabric", "from", "to", "evs", "group", "hash_seed", "planes": [{"plane", "switch", "uplinks":
/// [EVs of each], "busiest_of_mean", "idle", "sharing", "next_tier"}], "values": [{"ev", "path",
/// "uplink", "without"?}], "down"?: {"link", "plane", "evs", "carried", "moved_of_others"}}.
///
/// `sharing`: values that do not have their uplink for themselves. `next_tier`: how many members of a group
/// of as many uplinks a T1 would use for the values that reach it: the mean over T1s. With
/// one seed for all it is 1, which is called polarisation; the T1s of these fabrics have no choice, so
/// nothing suffers from it. Throws InputError for hosts on one T0 and links that are none.
nlohmann::ordered_json explain_ecmp(const Topology& topology, const EcmpQuestion& question);
std::string ecmp_text(const nlohmann::ordered_json& ecmp);

}  // namespace mrclab::lab
