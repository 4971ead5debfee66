#pragma once
// A speaker's state as JSON, for people and programs that ask a node.

#include <nlohmann/json.hpp>

#include "fabric/topology/topology.h"
#include "routing/speaker/speaker.h"

namespace mrclab::routing {

/// {"as", "router", "updates_in", "updates_out", "fib_writes", "prefixes": in its table, "installed": of those in the
/// forwarding table, "sessions": [{"port", "with", "as", "state": up, down or dark, "routes": from there, "bfd"?}],
/// "routes": [{"to": "h1" or a prefix, "own", "heard": [{"port", "mbps": or null}], "told": likewise}]}.
nlohmann::json speaker_json(const Topology& topology, NodeId self, const Speaker& speaker);

}  // namespace mrclab::routing
