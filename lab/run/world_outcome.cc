#include "lab/run/world_outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <stdexcept>
#include <thread>

#include "lab/run/watched_node.h"
#include "lab/sim/host_report.h"
#include "lab/sim/simulation.h"
#include "netio/kernel/file_descriptor.h"
#include "netio/record/report_json.h"
#include "netio/record/run_recorder.h"

namespace mrclab::lab {
namespace {

constexpr size_t kLargeFabric = 500;  // nodes
/// Questions to the simulator, each some 20 ms after the one before: the time that an interrupting
/// caller waits.
constexpr int kLastQuestions = 5;

using Recorders = std::vector<std::unique_ptr<netio::RunRecorder>>;

/// Nodes tell of what will have been sent a little later than `reached`, where the world was told to
/// stop. It goes on until then, if it comes there soon (a frame may take very long on a slow wire).
void end_with_records(Simulation& simulation, FabricTime reached, const Recorders& recorders,
                      analysis::Evidence* evidence, WorldOutcome& outcome) {
  FabricTime last = std::max(reached, FabricTime::zero());
  for (const auto& recorder : recorders) last = std::max(last, recorder->last());
  for (const auto& recorder : recorders) recorder->set_end(last);
  if (evidence != nullptr) evidence->end_early(last, "the run was interrupted");
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
  const Topology& topology = scenario.topology;
  const bool captured = scenario.captures != CaptureScope::kNone;
  if ((captured || options.history_bytes > 0 || options.evidence) && options.threads > 1) {
    throw std::logic_error("packets are written to files, and judged, by one thread");
  }
  std::deque<netio::EventLog> events;  // one for each thread
  for (uint32_t i = 0; i < options.threads; ++i) {
    events.emplace_back(folder.path / "events" / fmt::format("sim-{}.jsonl", i));
  }
  std::unique_ptr<netio::PcapngWriter> capture;
  if (captured) {
    netio::PcapngOptions snap;
    snap.snap_length = netio::kCaptureSnapLength;
    snap.max_file_bytes = options.capture_bytes;
    capture = std::make_unique<netio::PcapngWriter>(folder.captures() / "sim.pcapng", snap);
  }
  std::unique_ptr<netio::HistoryWriter> records;
  if (options.history_bytes > 0) {
    records = std::make_unique<netio::HistoryWriter>(folder.history() / "sim.bin",
                                                     stream_count(topology), options.history_bytes);
  }
  Recorders recorders;
  for (const NodeSite& site : topology.nodes) {
    const bool passed = scenario.captures == CaptureScope::kAll || site.role == NodeRole::kHost;
    recorders.push_back(std::make_unique<netio::RunRecorder>(
        topology, site.id, scenario.stop(), capture.get(), passed,
        &events[SimWorld::shard_of(topology, site.id, options.threads)], records.get()));
  }
  std::deque<WatchedNode> watched;
  for (const NodeSite& site : topology.nodes) {
    if (options.evidence == nullptr) break;
    watched.emplace_back(*recorders[site.id.value], options.evidence->observer(site.id));
  }
  const auto owner =
      std::make_shared<Simulation>(scenario, options.threads, [&](NodeId node) -> NodeObserver& {
        if (options.evidence == nullptr) return *recorders[node.value];
        return watched[node.value];
      });
  Simulation& simulation = *owner;
  FabricTime reached = simulation.run(go_on, options.until);

  WorldOutcome outcome;
  if (reached < std::min(options.until, scenario.stop())) {
    end_with_records(simulation, reached, recorders, options.evidence, outcome);
    reached = *outcome.interrupted_at;
    outcome.memory = owner;
  }
  outcome.hosts = simulation.hosts();
  for (const auto& recorder : recorders) {
    const auto streams = recorder->history().streams();
    outcome.history.insert(outcome.history.end(), streams.begin(), streams.end());
  }
  EvidenceSeal all;
  if (reached < scenario.stop()) all.until = reached;
  std::vector<EvidenceSeal> of_thread(options.threads, all);
  for (const NodeSite& site : topology.nodes) {
    all.nodes.push_back(site.id);
    of_thread[SimWorld::shard_of(topology, site.id, options.threads)].nodes.push_back(site.id);
  }
  if (capture) {
    outcome.capture_records = capture->written();
    capture->close(all);
  }
  for (uint32_t i = 0; i < options.threads; ++i) events[i].close(of_thread[i]);
  if (records) records->close(all);
  return outcome;
}

}  // namespace mrclab::lab
