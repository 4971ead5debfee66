#pragma once
// What several parts of a scenario file have in common: text, and commands of the user's.

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "fabric/text/yaml.h"

namespace mrclab::lab {

/// The longest `timeout:` of a program, in time of this machine.
inline constexpr std::chrono::hours kMaxProgramTime{24};
/// A command line for sh -c, of at most 4096 characters. Throws InputError.
std::string read_command(const YamlValue& value);
/// Where a command runs, absolute: `cwd` from `base`, or `base` itself. Throws InputError if it is no
/// folder, or one whose name a file cannot repeat.
std::filesystem::path read_folder(const std::optional<YamlValue>& cwd,
                                  const std::filesystem::path& base);
/// A duration of this machine's time, from 1ms to a day.
std::chrono::milliseconds read_wall_time(const YamlValue& value);

}  // namespace mrclab::lab
