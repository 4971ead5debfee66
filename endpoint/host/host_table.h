#pragma once
// A host's routes as JSON, for its control socket and for tests.

#include <nlohmann/json.hpp>

#include "endpoint/host/host_node.h"
#include "fabric/topology/topology.h"

namespace mrclab::endpoint {

/// {"hosts": [[port, ...]] by host number, "weights": [[weight, ...]] of those ports, "speaker": routing/node/
/// speaker_json.h}; null where NICs do not speak. A host without a way, and this one, has no ports.
nlohmann::json table_json(const Topology& topology, const HostNode& node);

}  // namespace mrclab::endpoint
