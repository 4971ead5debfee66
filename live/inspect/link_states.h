#pragma once
// Which links of a lab are up in the kernel, asked from outside the lab's owner.

#include <string_view>
#include <vector>

#include "fabric/topology/topology.h"

namespace mrclab::lab {

/// By LinkId: do both ends have carrier? Needs root. Throws SystemError if a namespace is gone.
std::vector<bool> link_states(const Topology& topology, std::string_view lab);

}  // namespace mrclab::lab
