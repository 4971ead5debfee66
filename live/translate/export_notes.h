#pragma once
// What stands at the top of each exported file: what the file is, and what of the fabric has no meaning there.

#include <string>
#include <vector>

#include "live/translate/exported_fabric.h"

namespace mrclab::lab {

/// Lines of at most 110 characters, for comments. `what`: "a containerlab topology"; `command`: what wrote it.
std::vector<std::string> export_notes(const ExportedFabric& fabric, const std::string& what,
                                      const std::string& command);

/// The lines with "# " before each.
std::string as_comment(const std::vector<std::string>& lines);

}  // namespace mrclab::lab
