#include "lab/blame_run.h"

#include "analysis/analyze.h"
#include "analysis/blame.h"
#include "fabric/yaml.h"
#include "lab/run_manifest.h"
#include "lab/scenario.h"

namespace mrclab::lab {

std::vector<analysis::Blame> blame_of_run(const std::filesystem::path& folder) {
  const std::filesystem::path run = folder == "latest" ? "runs/latest" : folder;
  if (!std::filesystem::is_directory(run)) {
    throw InputError("found no run folder " + in_quotes(run.string()) +
                     ": expected one such as runs/20260101-120000-optic-glitch, or latest");
  }
  RunManifest(run).require({"scenario.yaml", "captures", "events.jsonl"});
  const Scenario scenario = read_scenario_file(run / "scenario.yaml");
  analysis::PacketHistory packets(scenario.topology);
  analysis::EventHistory events(scenario.topology);
  const auto captures = analysis::captures_in(run / "captures");
  if (captures.empty()) {
    throw InputError(run.string() + ": it has no captures: run it with --captures hosts or all");
  }
  try {
    for (const auto& file : captures) packets.add_file(file);
    if (std::filesystem::exists(run / "events.jsonl")) events.add_file(run / "events.jsonl");
  } catch (const std::runtime_error& error) {
    throw InputError(error.what());
  }
  packets.finish();
  events.finish();
  return analysis::find_blame(scenario.topology, packets, events);
}

}  // namespace mrclab::lab
