#include "lab/cli/validate.h"

#include <fmt/format.h>

#include "console/terminal.h"
#include "fabric/topology/build_topology.h"
#include "fabric/topology/fabric_file.h"
#include "lab/cli/idle_options.h"
#include "scenario/spec/scenario.h"
#include "scenario/spec/shipped_files.h"
#include "session/lesson.h"

namespace mrclab::lab {
namespace {

/// The lesson, its scenario, and that scenario with what does each task.
std::string check_lesson(const std::filesystem::path& file) {
  const Lesson lesson = parse_lesson(file.string(), read_yaml_bytes(file));
  const Scenario scenario = scenario_of(lesson);
  for (const LessonTask& task : lesson.tasks) solved(lesson, task);
  return fmt::format("lesson {}: {} task{}, on {}", lesson.title, lesson.tasks.size(),
                     lesson.tasks.size() == 1 ? "" : "s", scenario.topology.name);
}

/// Tells a fabric from a scenario by its keys. The file is read only once,
/// because it may be a pipe of the shell's.
std::string check_file(const std::filesystem::path& file) {
  if (file.extension() == ".md") return check_lesson(file);
  const YamlValue document = read_yaml_file(file);
  if (document.is_map() && !document.get("fabric") &&
      (document.get("planes") || document.get("switches"))) {
    const Topology topology = build_topology(parse_fabric(document));
    check_lookahead(topology);
    return fmt::format("fabric {}: {} planes, {} hosts, {} nodes, {} links", topology.name,
                       topology.planes, topology.host_count(), topology.nodes.size(),
                       topology.links.size());
  }
  const Scenario scenario = parse_scenario(document, file.parent_path());
  note_idle_options(scenario);
  return fmt::format("scenario {} on {}: {} fault{}, {} check{}, until {}", scenario.name,
                     scenario.topology.name, scenario.faults.size(),
                     scenario.faults.size() == 1 ? "" : "s", scenario.expect.size(),
                     scenario.expect.size() == 1 ? "" : "s", to_string(scenario.end));
}

/// The file of this name, or if there is none, what ships under it.
std::filesystem::path file_called(const std::string& word) {
  std::error_code ignored;
  if (std::filesystem::exists(word, ignored)) return word;
  return find_fabric_or_scenario(word);
}

}  // namespace

int validate_command(const std::vector<std::string>& files) {
  int code = 0;
  for (const std::string& file : files) {
    try {
      fmt::print("{} {}: {}\n", paint("ok", Colour::kGreen, stdout), file,
                 check_file(file_called(file)));
    } catch (const InputError& error) {
      std::fflush(stdout);
      fmt::print(stderr, "{} {}\n", paint("error", Colour::kRed, stderr), error.what());
      code = 2;
    }
  }
  return code;
}

}  // namespace mrclab::lab
