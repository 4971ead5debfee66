#pragma once
// Files that people name, or that lie in a folder that somebody else made.

#include <filesystem>

namespace mrclab {

/// Refuses what would never end or never begin: a named pipe (nobody may ever write to it), a
/// device such as /dev/zero, a socket. Fine are files, /dev/null, a terminal, and what the shell
/// makes of `<(command)` and of `command |`. What is not there is left to who opens it. Throws
/// InputError.
void require_input_file(const std::filesystem::path& path);

}  // namespace mrclab
