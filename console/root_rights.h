#pragma once
// The message of a verb that needs root.

#include <string>

namespace mrclab::lab {

/// Throws InputError with "run with sudo" unless this process is root.
void require_root(const std::string& verb);

}  // namespace mrclab::lab
