#pragma once
// The queue pairs of a scenario, by name: what `inspect --qps` lists and a single step waits for.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "endpoint/base/transport_profile.h"
#include "fabric/history/record_watch.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {

/// One end of a connection; the other end is an entry of its own.
struct QueuePairEnd {
  uint32_t host = 0;
  Qpn qpn;
  uint32_t peer_host = 0;
  Qpn peer_qpn;
  uint32_t workload = 0;  ///< index in the scenario's list
  endpoint::TransportKind transport = endpoint::TransportKind::kMrc;
};

/// All ends, by host and in the order in which the host makes them.
std::vector<QueuePairEnd> queue_pairs(const Scenario& scenario);

/// [{"qp": "h0:0x1a2b3c", "host", "qpn", "peer": "h1:0x4d5e6f", "workload": "all_reduce"}]
nlohmann::json describe_queue_pairs(const Scenario& scenario);
/// The same as text for people.
std::string queue_pairs_text(const nlohmann::json& pairs);

/// What the words of `clock step` mean: a node ("h3", "p0.t0-1"), a port ("p0.t0-0:d1") or a queue
/// pair ("h3:0x1a2b3c", or the number alone if only one host has it). At most one is not empty.
/// Throws InputError for what the lab does not have. `scenario` may be null: then no queue pairs.
RecordFilter step_filter(const Topology& topology, const Scenario* scenario,
                         const std::string& node, const std::string& port, const std::string& qp);

/// An instant: "300us", "40rtt", "end" (the scenario's), or "+10us" after `now`. Throws InputError.
FabricTime parse_instant(const std::string& text, const Topology& topology, FabricTime now,
                         const Scenario* scenario);

}  // namespace mrclab::lab
