#pragma once
// Paths that people name: "p0/u1", "p3/-" (both hosts on one T0), patterns such as "p*/u0" or
// "p0/*" (everything in plane 0), lists, and entropy values by number ("0x0001c002").

#include <vector>

#include "fabric/paths/path_list.h"
#include "fabric/text/yaml.h"
#include "fabric/topology/topology.h"

namespace mrclab {

/// A scalar or a list of them, in the order of all_paths(), nothing twice. Throws InputError with
/// the position if one names no path of the fabric.
std::vector<Path> read_paths(const YamlValue& value, const Topology& topology);

}  // namespace mrclab
