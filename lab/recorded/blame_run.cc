#include "lab/recorded/blame_run.h"

#include "analysis/analyze.h"
#include "analysis/blame/blame.h"
#include "fabric/text/yaml.h"
#include "lab/run/run_folder.h"
#include "lab/run/run_manifest.h"
#include "lab/scenario/scenario.h"

namespace mrclab::lab {

std::vector<analysis::Blame> blame_of_run(const std::filesystem::path& folder) {
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
  if (const std::string gap = analysis::no_blame_because(evidence.coverage()); !gap.empty()) {
    throw InputError(run.string() + ": " + gap + ", and on part of the evidence nothing is blamed");
  }
  return analysis::find_blame(scenario.topology, evidence.packets(), evidence.events());
}

}  // namespace mrclab::lab
