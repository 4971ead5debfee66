#pragma once
// What a switch says of its forwarding table when it is asked: by its control socket, or by the page.

#include <nlohmann/json.hpp>

#include "switchd/switch_node.h"

namespace mrclab::switchd {

/// {"own": uSID, "routes": [{"usid", "port", "adjacency"}], "hosts": [[port, ...]] by host number,
/// "counters": [{"usid", "packets", "bytes", "errors"}]}, as of the committed time. Where it routes by itself also
/// "weights": [[weight, ...]] of those ports, and
/// "speaker": {"as", "router", "updates_in", "updates_out", "fib_writes",
///             "sessions": [{"port", "with", "as", "state": up, down or dark, "bfd"?, "routes"}],
///             "routes": [{"to": host, "own", "heard": [{"port", "mbps"}], "told": [{"port", "mbps"}]}]}
/// with ports by name; null mbps: no bandwidth was said. Heard is what each neighbour that is used says of the host,
/// told what the neighbours were told.
nlohmann::json table_json(const SwitchNode& node);

}  // namespace mrclab::switchd
