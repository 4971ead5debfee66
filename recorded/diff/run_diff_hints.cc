// What could explain a difference: settings that differ, what was not faithful, what was in force.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <sstream>

#include "fabric/node/effect_text.h"
#include "fabric/topology/fabric_file.h"
#include "recorded/diff/run_diff.h"

namespace mrclab::lab {
namespace {

using Lines = std::vector<std::string>;

constexpr size_t kReasonsMax = 4;
constexpr size_t kLinesMax = 6;

Lines lines_of(const std::string& text) {
  std::istringstream stream(text);
  Lines lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

Lines only_in(Lines left, Lines right) {
  std::sort(left.begin(), left.end());
  std::sort(right.begin(), right.end());
  Lines result;
  std::set_difference(left.begin(), left.end(), right.begin(), right.end(),
                      std::back_inserter(result));
  return result;
}

void note_lines(Lines& hints, const std::string& what, const Lines& a, const Lines& b) {
  for (const auto& [run, lines] : {std::pair{"A", only_in(a, b)}, std::pair{"B", only_in(b, a)}}) {
    for (size_t i = 0; i < lines.size() && i < kLinesMax; ++i) {
      hints.push_back(fmt::format("{}, only in {}: {}", what, run, lines[i]));
    }
    if (lines.size() > kLinesMax) {
      hints.push_back(fmt::format("{}, only in {}: {} more", what, run, lines.size() - kLinesMax));
    }
  }
}

void note_value(Lines& hints, const std::string& what, const std::string& a, const std::string& b) {
  if (a != b) hints.push_back(fmt::format("{}: A {}, B {}", what, a, b));
}

void note_faithfulness(Lines& hints, const char* name, const RecordedRun& run) {
  if (run.wall) {
    hints.push_back(fmt::format("{} has wall-clock timing: honest, but not exact", name));
    return;
  }
  if (run.faithful) return;
  for (size_t i = 0; i < run.reasons.size() && i < kReasonsMax; ++i) {
    hints.push_back(fmt::format("{} is NOT FAITHFUL: {}", name, run.reasons[i]));
  }
  if (run.reasons.size() > kReasonsMax) {
    hints.push_back(fmt::format("{} is NOT FAITHFUL for {} more reasons", name,
                                run.reasons.size() - kReasonsMax));
  }
}

Lines workload_lines(const Scenario& scenario) {
  Lines lines;
  for (const auto& spec : scenario.workload) lines.push_back(endpoint::to_yaml(spec));
  return lines;
}

Lines fault_lines(const Scenario& scenario) {
  Lines lines;
  for (const auto& fault : scenario.faults) {
    lines.push_back(faults::describe(fault, scenario.topology));
  }
  return lines;
}

Lines faults_at(const Scenario& scenario, FabricTime t) {
  Lines lines;
  for (const auto& fault : scenario.faults) {
    const auto interval = faults::interval_of(fault, scenario.topology);
    if (interval.start <= t && t < interval.last_heal) {
      lines.push_back(faults::describe(fault, scenario.topology));
    }
  }
  return lines;
}

/// "p0.t0-0:u0->p0.t1-0:d0 ... at 30us, 1.2us before"; none if nothing had happened yet.
Lines last_effect(const Scenario& scenario, FabricTime t) {
  const ScheduledEffect* last = nullptr;
  for (const ScheduledEffect& effect : scenario.schedule) {
    if (effect.at <= t) last = &effect;
  }
  if (last == nullptr) return {};
  return {fmt::format("{} at {}, {} before", describe(scenario.topology, last->effect),
                      to_string(last->at), to_string(t - last->at))};
}

/// Each line with the runs that have it.
void note_shared(Lines& hints, const std::string& what, const Lines& a, const Lines& b) {
  for (const std::string& line : a) {
    const bool both = std::find(b.begin(), b.end(), line) != b.end();
    hints.push_back(fmt::format("{}, {}: {}", what, both ? "A and B" : "A only", line));
  }
  for (const std::string& line : only_in(b, a)) {
    hints.push_back(fmt::format("{}, B only: {}", what, line));
  }
}

}  // namespace

std::vector<std::string> differing_settings(const RecordedRun& a, const RecordedRun& b) {
  Lines hints;
  note_value(hints, "scenario", a.scenario.name, b.scenario.name);
  note_value(hints, "version", a.version, b.version);
  note_value(hints, "seed", std::to_string(a.scenario.seed), std::to_string(b.scenario.seed));
  note_lines(hints, "fabric", lines_of(to_yaml(a.scenario.fabric)),
             lines_of(to_yaml(b.scenario.fabric)));
  note_value(hints, "transport", endpoint::to_yaml(a.scenario.transport),
             endpoint::to_yaml(b.scenario.transport));
  note_lines(hints, "workload", workload_lines(a.scenario), workload_lines(b.scenario));
  note_lines(hints, "fault", fault_lines(a.scenario), fault_lines(b.scenario));
  note_value(hints, "end", to_string(a.scenario.end), to_string(b.scenario.end));
  note_faithfulness(hints, "A", a);
  note_faithfulness(hints, "B", b);
  return hints;
}

std::vector<std::string> in_force(const RecordedRun& a, const RecordedRun& b, FabricTime t) {
  Lines hints;
  note_shared(hints, "in force", faults_at(a.scenario, t), faults_at(b.scenario, t));
  note_shared(hints, "last effect", last_effect(a.scenario, t), last_effect(b.scenario, t));
  return hints;
}

}  // namespace mrclab::lab
