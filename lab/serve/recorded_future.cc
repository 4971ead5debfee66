#include "lab/serve/recorded_future.h"

#include <algorithm>

#include "fabric/text/line_file.h"
#include "faults/schedule.h"
#include "lab/serve/told_records.h"
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

RecordedFuture::RecordedFuture(const RecordedRun& run)
    : Future(scenario_of(run)),
      history_sha256_(run.history_sha256),
      unsound_(mrclab::lab::unsound(run)),
      exact_(run.faithful && !run.wall) {
  RunManifest(run.folder).require({"history", "events.jsonl"});
  ToldRecords told(scenario_.topology, *recording_);
  const FabricTime complete =
      visit_records(run, [&told](const CompactRecord& record) { told.take(record); });
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

void RecordedFuture::require_exact() const {
  if (exact_) return;
  throw InputError(
      "this run is over, and was not FAITHFUL or went by the wall clock: what its hosts and "
      "switches "
      "would have reported then is not known");
}

const Future& RecordedFuture::twin() const {
  require_exact();
  return twin_.come_to(scenario_, told_at_);
}

const Future& RecordedFuture::simulated(FabricTime at_least) const {
  require_exact();
  return twin_.reach(scenario_, at_least);
}

endpoint::HostAccount RecordedFuture::account(uint32_t host) const { return twin().account(host); }

SwitchWords RecordedFuture::words_of(const NodeSite& node) const { return twin().words_of(node); }

std::unique_ptr<Future> RecordedFuture::another(Scenario scenario) const {
  return std::make_unique<SimulatedFuture>(std::move(scenario));
}

}  // namespace mrclab::lab
