#include "scenario/spec/yaml_text.h"

#include "fabric/text/plain_text.h"

namespace mrclab::lab {

std::string read_command(const YamlValue& value) {
  constexpr size_t kMax = 4096;
  const std::string command = value.is_scalar() ? value.as_string() : "";
  const bool blank = command.find_first_not_of(" \t\n") == std::string::npos;
  if (blank || command.size() > kMax) {
    value.fail_expecting("a command line such as \"./check.py\"");
  }
  return command;
}

std::filesystem::path read_folder(const std::optional<YamlValue>& cwd,
                                  const std::filesystem::path& base) {
  std::filesystem::path folder = std::filesystem::absolute(base.empty() ? "." : base);
  if (cwd) folder /= cwd->as_string();
  std::error_code ignored;
  if (cwd && !std::filesystem::is_directory(folder, ignored)) cwd->fail_expecting("a folder");
  folder = folder.lexically_normal();
  if (const auto odd = find_odd_text(folder.string())) {
    throw InputError(in_quotes(folder.string()) + ": found " + odd->found +
                     " in the name of the folder: expected a name that can be written down");
  }
  return folder;
}

std::chrono::milliseconds read_wall_time(const YamlValue& value) {
  const auto time = std::chrono::milliseconds(value.as_time().ns() / 1'000'000);
  if (time < std::chrono::milliseconds(1) || time > kMaxProgramTime) {
    value.fail_expecting("a time of this machine from 1ms to 24 hours, such as 10s");
  }
  return time;
}

}  // namespace mrclab::lab
