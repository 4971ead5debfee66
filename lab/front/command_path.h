#pragma once
// The command, for what starts it: its verbs are in several programs, which lie beside each other.

#include <filesystem>
#include <string>
#include <vector>

namespace mrclab::lab {

/// Where `mrclab-cli` lies: beside this program.
std::filesystem::path command_path();

/// This process becomes `mrclab WORDS...`. Throws std::system_error where that cannot be started.
[[noreturn]] void become_verb(std::vector<std::string> words);

}  // namespace mrclab::lab
