#pragma once
// `validate`: reads fabric and scenario files as a run would, and starts nothing.

#include <string>
#include <vector>

namespace mrclab::lab {

/// One line per file: ok with what it is, or the error with its position. Returns 0 or 2.
int validate_command(const std::vector<std::string>& files);

}  // namespace mrclab::lab
