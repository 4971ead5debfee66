#include "recorded/folder/run_origin.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

#include "console/fabric_drawing.h"
#include "console/shell_word.h"
#include "console/version.h"
#include "fabric/text/line_file.h"
#include "fabric/text/yaml.h"
#include "netio/system/file_descriptor.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;

constexpr size_t kCommandBytesMax = 4'096;

/// This process's command line, with the name under which users call the program.
std::string command_of_process() {
  std::string words;
  try {
    words = netio::read_file("/proc/self/cmdline", kCommandBytesMax);
  } catch (const netio::SystemError&) {  // too long, or no /proc: the report does without
    return "";
  }
  std::string command;
  for (size_t at = 0; at < words.size();) {
    const size_t end = std::min(words.find('\0', at), words.size());
    std::string word = words.substr(at, end - at);
    for (char& c : word) {
      if (static_cast<unsigned char>(c) < 0x20) c = ' ';  // the command has one line
    }
    command += at == 0 ? "mrclab" : " " + shell_word(word);
    at = end + 1;
  }
  return command;
}

std::string about_of(const Scenario& scenario) {
  if (scenario.holds_at_production.empty()) return scenario.about;
  return scenario.about + " Does it hold at production time scales? " +
         scenario.holds_at_production + ".";
}

}  // namespace

analysis::RunOrigin origin_of(const Scenario& scenario) {
  return {about_of(scenario), command_of_process(),
          fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(std::time(nullptr))),
          drawn_as_svg(scenario.topology)};
}

void write_command(const analysis::RunOrigin& origin, const fs::path& run) {
  netio::write_file(run / kCommandFile, fmt::format("# {}\n{}\n# mrclab {}\n", origin.started,
                                                    origin.command, version_text()));
}

analysis::RunOrigin read_origin(const Scenario& scenario, const fs::path& run) {
  analysis::RunOrigin origin{about_of(scenario), "", "", drawn_as_svg(scenario.topology)};
  const fs::path file = run / kCommandFile;
  if (!fs::exists(file)) return origin;
  LineFile lines(file);
  std::string line;
  if (lines.next(line) && line.starts_with("# ")) origin.started = line.substr(2);
  if (lines.next(line)) origin.command = line;
  return origin;
}

}  // namespace mrclab::lab
