#include "lab/serve/recorded_branch.h"

#include <algorithm>

#include "fabric/text/line_file.h"
#include "faults/schedule.h"
#include "lab/serve/node_record_reader.h"
#include "recorded/folder/run_manifest.h"

namespace mrclab::lab {
namespace {

Scenario scenario_of(const RecordedRun& run) {
  Scenario scenario = run.scenario;
  scenario.schedule = faults::compile(scenario.faults, scenario.topology);
  return scenario;
}

/// A run that could not be judged when it ended cannot be judged by what a simulation of it would have shown.
std::string unsound(const RecordedRun& run) {
  if (run.faithful && !run.wall && run.result != "inconclusive") return {};
  std::string why = run.wall        ? "this run went by the wall clock"
                    : !run.faithful ? "this run was NOT FAITHFUL"
                                    : "this run was INCONCLUSIVE when it was judged";
  for (const std::string& reason : run.reasons) why += "; " + reason;
  return why;
}

}  // namespace

RecordedBranch::RecordedBranch(const RecordedRun& run)
    : Branch(scenario_of(run)),
      history_sha256_(run.history_sha256),
      unsound_(mrclab::lab::unsound(run)),
      exact_(run.faithful && !run.wall) {
  RunManifest(run.folder).require({"history", "events.jsonl"});
  NodeRecordReader told(scenario_.topology, *recording_);
  const FabricTime complete =
      visit_records(run, [&told](const CompactRecord& record) { told.append_record(record); });
  if (complete <= FabricTime::zero()) {
    throw InputError(run.folder.string() +
                     ": found no packet records: expected a run without `--history digest`");
  }
  reached_ = end();
  if (complete <= end()) {
    reached_ = complete - FabricTime::from_ps(1);
    cut_ = {
        complete,
        "from " + to_string(complete) +
            " on nothing is recorded: the packet records of this run met their bound (--history)"};
  }
  LineFile lines(run.folder / "events.jsonl");
  std::string line;
  while (lines.next(line)) told.take_line(line);
  recording_->complete(reached_);
}

void RecordedBranch::require_exact() const {
  if (exact_) return;
  throw InputError(
      "this run is over, and was not FAITHFUL or went by the wall clock: what its hosts "
      "and switches would have reported then is not known");
}

const Branch& RecordedBranch::twin() const {
  require_exact();
  return twin_.come_to(scenario_, told_at_);
}

const Branch& RecordedBranch::simulated(FabricTime at_least) const {
  require_exact();
  return twin_.reach(scenario_, at_least);
}

endpoint::HostAccount RecordedBranch::account(uint32_t host) const { return twin().account(host); }

SwitchStatus RecordedBranch::status_of(const NodeSite& node) const {
  return twin().status_of(node);
}

std::unique_ptr<Branch> RecordedBranch::another(Scenario scenario) const {
  return std::make_unique<SimulatedBranch>(played_to_its_end(std::move(scenario)));
}

}  // namespace mrclab::lab
