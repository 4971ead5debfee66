#pragma once
// Which wires an effect impairs, as follows from the fabric and the effect alone.

#include <vector>

#include "fabric/node/effect.h"
#include "fabric/topology/topology.h"

namespace mrclab {

/// The directed wires that do not carry everything, or carry it late or twice, because of this
/// effect, in the order of their numbers; none if it is as built.
///
///   wire_*                        its wire
///   port_carrier                  the wire out of the port, which starts no frames
///   switch_state, switch_errors   every wire into the switch: what it carries is lost or spoilt
///   switch_route                  the wire that the uSID takes as built
///   ev_denial, switch_trim, switch_ecn, switch_buffer, host_*   none
std::vector<WireId> wires_impaired_by(const Topology& topology, const Effect& effect);

}  // namespace mrclab
