#pragma once
// What a verb says that may only be used as root.

#include <string>

namespace mrclab::lab {

/// Throws InputError with "run with sudo" unless this process is root.
void require_root(const std::string& verb);

}  // namespace mrclab::lab
