#pragma once
// Checks input files that people name, or that lie in a folder which somebody else made.

#include <filesystem>

namespace mrclab {

/// Refuses what would never end or never begin: a named pipe (it may never get a writer), a device
/// such as /dev/zero, a socket. Accepts files, /dev/null, a terminal, and what the shell makes of
/// `<(command)` and of `command |`. Does nothing for a file that is missing: opening it will fail.
/// Throws InputError.
void require_input_file(const std::filesystem::path& path);

}  // namespace mrclab
