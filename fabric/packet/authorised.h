#pragma once
// Is a frame that a host sends one that it may send (fabric/topology/programs/program_table.h)? The same function for NIC and T0.

#include <cstdint>
#include <span>

#include "fabric/packet/drop_cause.h"
#include "fabric/topology/topology.h"

namespace mrclab {

/// Why the frame may not go out of this port of a NIC; kNone if it may, and always where the fabric has no programs
/// (`authorise: off`). Its source is to be the host, outer and inner; its carrier one of the host's programs; its receiver
/// one of its own tenant. A routing header is refused, as its segments would be further programs. What leads to no host
/// at all (multicast, link-local, unknown addresses, what is no IP) is left to the switch, which forwards none of it.
DropCause not_authorised(const Topology& topology, PortRef nic, std::span<const uint8_t> frame);

}  // namespace mrclab
