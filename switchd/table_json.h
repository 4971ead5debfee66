#pragma once
// A switch's forwarding table as JSON, for its control socket and for the page.

#include <nlohmann/json.hpp>

#include "switchd/switch_node.h"

namespace mrclab::switchd {

/// {"own": uSID, "routes": [{"usid", "port", "adjacency"}], "hosts": [[port, ...]] by host number,
/// "counters": [{"usid", "packets", "bytes", "errors"}]}, as of the committed time. Where it routes by itself also
/// "weights": [[weight, ...]] of those ports, and
/// "speaker": {"as", "router", "updates_in", "updates_out", "fib_writes",
///             "sessions": [{"port", "with", "as", "state": up, down or dark, "bfd"?, "routes"}],
///             "routes": [{"to": host, "own", "heard": [{"port", "mbps"}], "told": [{"port", "mbps"}]}]}
/// with ports by name; null mbps: no bandwidth was announced. "heard": what each neighbour that is used has announced
/// for the host; "told": what was announced to each neighbour. With fast reroute also "fast_reroute": {"scope", "dead":
/// [port], "lost_behind": {port: hosts}, "notices_out", "notices_in", "malformed", "refused"} (fast_reroute.h).
/// Where the fabric has an orchestrator also "neighbours": [{"port", "who"}], those that were heard last.
nlohmann::json table_json(const SwitchNode& node);

}  // namespace mrclab::switchd
