#pragma once
// Paths that people name: "p0/u1", "p3/-" (both hosts on one T0), patterns such as "p[0-3]/u0" or
// "p0/*" (everything in plane 0; fabric/text/name_pattern.h), lists, and entropy values by number
// ("0x0001c002").

#include <optional>
#include <string_view>
#include <vector>

#include "fabric/paths/path_list.h"
#include "fabric/text/name_pattern.h"
#include "fabric/text/yaml.h"
#include "fabric/topology/topology.h"

namespace mrclab {

/// A scalar or a list of them, in the order of all_paths(), nothing twice. Throws InputError with
/// the position if one names no path of the fabric, or a pattern more than there are.
std::vector<Path> read_paths(const YamlValue& value, const Topology& topology);

/// What is wrong with one pattern of paths; empty if all that it names are there.
std::optional<PatternMistake> mistake_in_paths(std::string_view pattern, const Topology& topology);

}  // namespace mrclab
