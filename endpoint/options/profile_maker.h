#pragma once
// The two shipped profiles of the transport, resolved for one topology.

#include <string_view>

#include "endpoint/base/transport_profile.h"
#include "fabric/topology/topology.h"

namespace mrclab::endpoint {

/// "lab": timers are multiples of the base RTT. "production": wall-clock sized timers of products. What finds losses is
/// at least as slow as the fabric's NIC (NicLosses).
/// Throws std::invalid_argument for another name.
TransportProfile make_profile(std::string_view name, const Topology& topology);

}  // namespace mrclab::endpoint
