#pragma once
// The fat twin of a fabric of several planes: one plane whose ports have the rate of all, as a site would buy them for
// a transport that sends each queue pair over one port. Racks, hosts, uplinks for each rack, delays and thresholds (in
// BDPs) stay as they are, so that both carry the same between racks.

#include <functional>
#include <string>
#include <string_view>

#include "fabric/topology/fabric_shape.h"
#include "scenario/spec/scenario_value.h"

namespace mrclab::lab {

/// What becomes of a plane in a name: "3", or "*", "?", "[0-3]", "{0..3}" in a pattern.
using PlaneNames = std::function<std::string(std::string_view plane)>;
/// The text with other planes in the names, paths and patterns that it has: "h[0-3]:p5", "p*.t1-0", "{plane: 3}".
std::string with_planes(const std::string& text, const PlaneNames& names);

/// Plane k of `from` among so many: k * planes / from, so that a half of the planes stays a half. Throws InputError for a
/// pattern of some planes, unless one plane is left.
PlaneNames among_planes(uint32_t from, uint32_t planes);

/// The fabric on so many planes, which divide its own: each with as much more rate, and with as much fewer links on a
/// transceiver, but one at least. Throws InputError for a listed fabric, whose NICs may hang on different switches.
FabricShape on_planes(const FabricShape& shape, uint32_t planes);

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
