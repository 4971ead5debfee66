#pragma once
// What the project ships in topologies/, where either a fabric or a scenario may be named.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace mrclab::lab {

/// The names that the files of topologies/<folder> go by ("fabrics", "incidents"), sorted.
std::vector<std::string> shipped_names(std::string_view folder);

/// A path, or the name of a shipped fabric or incident, or the id of an incident ("L5"). Throws NameError
/// naming both kinds.
std::filesystem::path find_fabric_or_scenario(const std::string& name_or_path);

}  // namespace mrclab::lab
