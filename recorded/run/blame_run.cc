#include "recorded/run/blame_run.h"

#include <nlohmann/json.hpp>

#include "analysis/blame/blame.h"
#include "analysis/judge/analyze.h"
#include "fabric/text/json_text.h"
#include "fabric/text/yaml.h"
#include "netio/system/file_descriptor.h"
#include "recorded/diff/recorded_run.h"
#include "recorded/folder/run_folder.h"
#include "recorded/folder/run_manifest.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {
namespace {

/// How many frames the kernel lost in the run, as its verdict has it; none if it was never judged.
uint64_t gaps_of(const std::filesystem::path& run) {
  const std::filesystem::path file = run / "verdict.json";
  if (!std::filesystem::exists(file)) return 0;
  try {
    const auto verdict = require_json<nlohmann::json>(netio::read_file(file, kVerdictMax));
    return verdict.at("timing").at("gaps").get<uint64_t>();
  } catch (const nlohmann::json::exception& error) {
    throw InputError(file.string() + ": " + error.what());
  } catch (const netio::SystemError& error) {
    throw InputError(error.what());
  }
}

}  // namespace

BlamedRun blame_of_run(const std::filesystem::path& folder) {
  const std::filesystem::path run = named_run(folder);
  if (!std::filesystem::is_directory(run)) {
    throw InputError("found no run folder " + in_quotes(run.string()) +
                     ": expected one such as runs/20260101-120000-optic-glitch, or latest");
  }
  RunManifest(run).require({"scenario.yaml", "captures", "events.jsonl"});
  const Scenario scenario = read_run_scenario(run);
  const auto captures = analysis::captures_in(run / "captures");
  if (captures.empty()) {
    throw InputError(run.string() + ": it has no captures: run it with --captures hosts or all");
  }
  analysis::Evidence evidence(scenario.topology, scenario.schedule, scenario.stop());
  for (const auto& file : captures) evidence.add_capture(file);
  evidence.add_events(run / "events.jsonl");
  evidence.finish();
  const std::string gap = analysis::no_blame_because(evidence.coverage(), gaps_of(run));
  if (!gap.empty()) {
    throw InputError(run.string() + ": " + gap + ", and on such evidence nothing is blamed");
  }
  BlamedRun blamed;
  blamed.blames = analysis::find_blame(scenario.topology, evidence.packets(), evidence.events());
  blamed.not_told = analysis::losses_not_told(scenario.topology, evidence.packets());
  for (const analysis::Attempt& attempt : evidence.packets().attempts()) {
    if (!attempt.lost()) continue;
    ++(attempt.congested() ? blamed.congested : blamed.lost_otherwise);
  }
  return blamed;
}

}  // namespace mrclab::lab
