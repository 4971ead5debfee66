#pragma once
// The fat twin of a fabric of several planes: one plane whose ports have the rate of all, as a site would buy them for
// a transport that sends each queue pair over one port. Racks, hosts, uplinks for each rack, delays and thresholds (in
// BDPs) stay as they are, so that both carry the same between racks.

#include <string>

#include "fabric/topology/fabric_shape.h"
#include "scenario/spec/scenario_value.h"

namespace mrclab::lab {

/// Rates are those of all planes together, each port has a transceiver of its own, and what names a plane names the one
/// that there is. A fabric of one plane is its own twin. Throws InputError for a listed fabric, whose NICs may hang on
/// different switches.
FabricShape fat_twin(const FabricShape& shape);

/// The text with the one plane in place of those that names, paths and patterns have: "h[0-3]:p5" is h[0-3]:p0,
/// "p*.t1-0" is p0.t1-0, "{plane: 3}" is {plane: 0}.
std::string in_one_plane(const std::string& text);

/// The scenario on its fabric's fat twin, with the same seed. A fault of a port, a link, a switch or a transceiver in
/// some plane is one of the only one there: what takes an eighth of a NIC here takes all of it there. Contrasts are left
/// out. Throws InputError.
Scenario fat_twin(const Scenario& scenario);

}  // namespace mrclab::lab
