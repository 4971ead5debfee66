#pragma once
// Whether a fabric can have the denylist that its file asks for.

#include <optional>
#include <string>

#include "fabric/topology/topology.h"

namespace mrclab {

/// Why it cannot; empty if it can. Throws NameError for a part or a host that is not there.
std::optional<std::string> denylist_misfit(const Topology& topology);
/// The host that decides.
uint32_t collector_of(const Topology& topology);

}  // namespace mrclab
