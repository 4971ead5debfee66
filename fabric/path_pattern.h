#pragma once
// Paths that people name: "p0/u1", "p3/-" (both hosts on one T0), patterns such as "p*/u0" or
// "p0/*" (everything in plane 0), lists, and entropy values by number ("0x0001c002").

#include <vector>

#include "fabric/path.h"
#include "fabric/topology.h"
#include "fabric/yaml.h"

namespace mrclab {

/// Every path of the fabric, plane by plane: its uplinks, then the T0-local one.
std::vector<Path> all_paths(const Topology& topology);

/// Is `path` one of them?
bool has_path(const Topology& topology, Path path);

/// A scalar or a list of them, in the order of all_paths(), nothing twice. Throws InputError with
/// the position if one names no path of the fabric.
std::vector<Path> read_paths(const YamlValue& value, const Topology& topology);

}  // namespace mrclab
