#pragma once
// Checks input files that a user names, or that lie in a folder another user may have prepared.

#include <cstddef>
#include <filesystem>
#include <iosfwd>
#include <string>

namespace mrclab {

/// Refuses files whose reading might never end or never begin: a named pipe (it may never get a
/// writer), a device such as /dev/zero, a socket. Accepts files, /dev/null, a terminal, and what
/// the shell makes of `<(command)` and of `command |`. Does nothing for a file that is missing:
/// opening it will fail. Throws InputError.
void require_input_file(const std::filesystem::path& path);

/// What is left of a stream, at most `most` bytes of it. Takes no more memory than there is text, plus 16 KiB: what
/// comes up reads dozens of small files, and clearing room for the largest that is allowed took longer than reading.
std::string read_at_most(std::istream& stream, size_t most);

}  // namespace mrclab
