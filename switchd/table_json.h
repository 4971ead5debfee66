#pragma once
// What a switch says of its forwarding table when it is asked: by its control socket, or by the page.

#include <nlohmann/json.hpp>

#include "switchd/switch_node.h"

namespace mrclab::switchd {

/// {"own": uSID, "routes": [{"usid", "port", "adjacency"}], "hosts": [[port, ...]] by host number,
/// "counters": [{"usid", "packets", "bytes", "errors"}]}, as of the committed time.
nlohmann::json table_json(const SwitchNode& node);

}  // namespace mrclab::switchd
