#pragma once
// What the project ships in topologies/, where either a fabric or a scenario may be named.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace mrclab::lab {

/// "octet" is topologies/fabrics/octet.yaml of the project; text with a slash or ending in .yaml is
/// a path, relative to `base` unless absolute. Throws NameError suggesting the nearest existing
/// name.
std::filesystem::path find_fabric(std::string_view name, const std::filesystem::path& base = {});

/// "optic-glitch" is topologies/incidents/optic-glitch.yaml, and "optic-glitch-production", the same in its own time,
/// topologies/production/optic-glitch-production.yaml; "verbs-optic-glitch", one under RDMA programs, is in topologies/programs;
/// paths as above.
std::filesystem::path find_incident(std::string_view name, const std::filesystem::path& base = {});

/// Where topologies/ lies: of an installed program <prefix>/share/mrclab and nowhere else, so that no
/// folder in which somebody once built it is trusted; otherwise the source tree it was built from.
std::filesystem::path data_directory();

/// The names that the files of topologies/<folder> go by ("fabrics", "incidents", "production", "programs",
/// "stargate"), sorted.
std::vector<std::string> shipped_names(std::string_view folder);

}  // namespace mrclab::lab
