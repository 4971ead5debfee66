#include "lab/run/world_outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <stdexcept>
#include <thread>

#include "lab/run/sim_records.h"
#include "lab/run/watched_node.h"
#include "lab/sim/host_report.h"
#include "lab/sim/simulation.h"
#include "netio/kernel/file_descriptor.h"
#include "netio/record/report_json.h"

namespace mrclab::lab {
namespace {

constexpr size_t kLargeFabric = 500;  // nodes
/// Questions to the simulator, each some 20 ms after the one before: the time that an interrupting
/// caller waits.
constexpr int kLastQuestions = 5;

/// Nodes tell of what will have been sent a little later than `reached`, where the world was told to
/// stop. It goes on until then, if it comes there soon (a frame may take very long on a slow wire).
void end_with_records(Simulation& simulation, FabricTime reached, SimRecords& records,
                      const SimOptions& options, WorldOutcome& outcome) {
  const FabricTime last = latest_of_ranks(options.ranks, std::max(reached, records.last()));
  records.set_end(last);
  if (options.evidence != nullptr) options.evidence->end_early(last, "the run was interrupted");
  int asked = 0;
  reached = simulation.run([&asked](FabricTime) { return ++asked < kLastQuestions; }, last);
  outcome.interrupted_at = reached;
  outcome.judgeable = reached == last;
}

void add_reasons(analysis::TimingReport& timing, const netio::ProcessReport& report, bool carried) {
  const auto note = [&](uint64_t count, const char* what) {
    if (count > 0) timing.reasons.push_back(fmt::format("{}: {} {}", report.process, count, what));
  };
  for (const netio::GapReport& gap : report.gaps) {
    timing.reasons.push_back(
        fmt::format("the kernel lost frame {} on wire {}", gap.sequence, gap.wire));
  }
  note(report.late_frames, "frames came after their time");
  note(report.failed_sends, "frames were refused by the kernel");
  // One example shows what kind of error it was.
  if (!report.failed_send_reasons.empty()) {
    timing.reasons.push_back(report.failed_send_reasons.front());
  }
  note(report.ring_drops, "frames found no room in a receive ring");
  note(report.late_effects, "effects of faults were told after their time");
  note(report.unknown_frames, "frames carried a trailer that is not this wire's");
  note(report.frame_pool_exhausted, "times there was no frame buffer");
  if (carried) note(report.foreign_frames, "frames came from outside the lab");
}

}  // namespace

void add_process_report(WorldOutcome& outcome, const Scenario& scenario, const ReadReport& read) {
  outcome.history.insert(outcome.history.end(), read.streams.begin(), read.streams.end());
  for (const auto& [number, account] : read.hosts) {
    const NodeSite& site = scenario.topology.node(scenario.topology.host(number));
    outcome.hosts.hosts.push_back(host_report(site.name, account));
  }
  outcome.timing.late_frames += read.report.late_frames;
  outcome.timing.gaps += read.report.gap_count;
  outcome.timing.min_slack_ns = std::min(outcome.timing.min_slack_ns, read.report.min_slack_ns);
  add_reasons(outcome.timing, read.report, scenario.timing == TimingMode::kCarried);
}

void add_process_reports(WorldOutcome& outcome, const Scenario& scenario, const ProcessPlan& plan,
                         const std::filesystem::path& reports) {
  for (uint32_t i = 0; i < plan.processes.size(); ++i) {
    try {
      add_process_report(outcome, scenario,
                         read_process_report(reports, scenario.topology, plan, i));
    } catch (const netio::ReportError& error) {
      add_disturbance(outcome, error.what());
    }
  }
}

void add_disturbance(WorldOutcome& outcome, std::string what) {
  outcome.timing.reasons.push_back(what);
  outcome.timing.disturbances.push_back(std::move(what));
}

void write_history(std::vector<HistoryStream> streams, const RunFolder& folder) {
  std::sort(streams.begin(), streams.end(),
            [](const HistoryStream& a, const HistoryStream& b) { return a.name < b.name; });
  netio::write_file(folder.path / "history.txt", history_to_text(streams));
}

uint32_t default_threads(const Scenario& scenario, uint64_t history_bytes) {
  const bool large = scenario.topology.nodes.size() >= kLargeFabric;
  const bool looked_at =
      scenario.captures != CaptureScope::kNone || history_bytes > 0 || !scenario.expect.empty();
  return large && !looked_at && std::thread::hardware_concurrency() > 1 ? 2 : 1;
}

WorldOutcome run_simulated(const Scenario& scenario, const RunFolder& folder,
                           const SimOptions& options,
                           const std::function<bool(FabricTime)>& go_on) {
  if (options.evidence && (options.threads > 1 || options.ranks)) {
    throw std::logic_error("nodes are watched by one thread");
  }
  std::optional<SimRecords> records;
  std::deque<WatchedNode> watched;
  std::shared_ptr<Simulation> simulation;
  WorldOutcome outcome;
  run_on_all_ranks(options.ranks, [&] {
    records.emplace(scenario, folder,
                    SimRecords::Options{options.threads, options.ranks, options.capture_bytes,
                                        options.history_bytes});
    const auto observer_of = [&](NodeId node) -> NodeObserver& {
      if (options.evidence == nullptr) return records->recorder(node);
      return watched.emplace_back(records->recorder(node), options.evidence->observer(node));
    };
    const auto observed = scenario.captures == CaptureScope::kNone
                              ? Simulation::Observed::kHeaders
                              : Simulation::Observed::kWholeFrames;
    simulation = std::make_shared<Simulation>(scenario, options.threads, observer_of, options.ranks,
                                              observed);
  });
  run_on_all_ranks(options.ranks, [&] {
    FabricTime reached = simulation->run(go_on, options.until);
    if (reached < std::min(options.until, scenario.stop())) {
      end_with_records(*simulation, reached, *records, options, outcome);
      reached = *outcome.interrupted_at;
      outcome.memory = simulation;
    }
    outcome.hosts = simulation->hosts();
    outcome.history = records->streams();
    outcome.capture_records = records->capture_records();
    records->close(reached);
    if (options.at_end) options.at_end(*simulation, outcome);
  });
  return outcome;
}

}  // namespace mrclab::lab
