#include "lab/verbs/files/validate.h"

#include <fmt/format.h>

#include "console/terminal.h"
#include "fabric/text/counted_noun.h"
#include "fabric/text/mistakes.h"
#include "fabric/topology/build_topology.h"
#include "fabric/topology/fabric_file.h"
#include "scenario/spec/idle_options.h"
#include "scenario/spec/scenario.h"
#include "scenario/spec/scenario_document.h"
#include "scenario/spec/shipped_files.h"
#include "session/lesson.h"

namespace mrclab::lab {
namespace {

/// The lesson, its scenario, and that scenario with what does each task.
std::string check_lesson(const std::filesystem::path& file) {
  const Lesson lesson = parse_lesson(file.string(), read_yaml_bytes(file));
  const Scenario scenario = scenario_of(lesson);
  for (const LessonTask& task : lesson.tasks) solved(lesson, task);
  return fmt::format("lesson {}: {}, on {}", lesson.title,
                     counted_noun(lesson.tasks.size(), "task"), scenario.topology.name);
}

/// What is to be said of a fabric that is too large to be built.
std::string worlds_of(const Topology& topology) {
  if (topology.nodes.size() <= kMaxNodes) return "";
  return fmt::format("; for --world sim: a live lab has at most {} nodes", kMaxNodes);
}

/// Recognizes a fabric or a scenario by its keys. The file is read only once,
/// because it may be a pipe of the shell's.
std::string check_file(const std::filesystem::path& file) {
  if (file.extension() == ".md") return check_lesson(file);
  const YamlValue document = read_yaml_file(file);
  if (document.is_map() && !document.get("fabric") &&
      (document.get("planes") || document.get("switches"))) {
    const Topology topology = build_topology(parse_fabric(document, kMaxSimulatedNodes));
    check_lookahead(topology);
    return fmt::format(
        "fabric {}: {}, {}, {}, {}{}", topology.name, counted_noun(topology.planes, "plane"),
        counted_noun(topology.host_count(), "host"), counted_noun(topology.nodes.size(), "node"),
        counted_noun(topology.links.size(), "link"), worlds_of(topology));
  }
  ScenarioOverrides of_any_size;
  of_any_size.max_nodes = kMaxSimulatedNodes;
  const Scenario scenario =
      parse_scenario(composed_scenario(document, file), file.parent_path(), of_any_size);
  note_idle_options(scenario);
  return fmt::format("scenario {} on {}: {}, {}, until {}{}", scenario.name, scenario.topology.name,
                     counted_noun(scenario.faults.size(), "fault"),
                     counted_noun(scenario.expect.size(), "check"), to_string(scenario.end),
                     worlds_of(scenario.topology));
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
      for (const std::string& mistake : mistakes_in(error)) {
        fmt::print(stderr, "{} {}\n", paint("error", Colour::kRed, stderr), mistake);
      }
      code = 2;
    }
  }
  return code;
}

}  // namespace mrclab::lab
