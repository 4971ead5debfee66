#include "lab/world_outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <stdexcept>
#include <thread>

#include "lab/simulation.h"
#include "netio/file_descriptor.h"
#include "netio/run_recorder.h"

namespace mrclab::lab {
namespace {

constexpr size_t kLargeFabric = 500;  // nodes

void add_reasons(analysis::TimingReport& timing, const nlohmann::json& report, bool carried) {
  const std::string process = report.at("process").get<std::string>();
  const auto note = [&](const char* key, const char* what) {
    const uint64_t count = counter(report, key);
    if (count > 0) timing.reasons.push_back(fmt::format("{}: {} {}", process, count, what));
  };
  for (const auto& gap : report.at("gaps")) {
    timing.reasons.push_back(fmt::format("the kernel lost frame {} on wire {}",
                                         gap.at("sequence").get<uint64_t>(),
                                         gap.at("wire").get<std::string>()));
  }
  note("late_frames", "frames came after their time");
  note("failed_sends", "frames were refused by the kernel");
  for (const auto& reason : report.at("failed_send_reasons")) {
    timing.reasons.push_back(reason.get<std::string>());
    break;  // one example says what kind it is
  }
  note("ring_drops", "frames found no room in a receive ring");
  note("late_effects", "effects of faults were told after their time");
  note("unknown_frames", "frames carried a trailer that is not this wire's");
  note("frame_pool_exhausted", "times there was no frame buffer");
  if (carried) note("foreign_frames", "frames came from outside the lab");
}

}  // namespace

uint64_t counter(const nlohmann::json& counters, const char* name) {
  const auto found = counters.find(name);
  return found == counters.end() ? 0 : found->get<uint64_t>();
}

analysis::HostReport host_report(const std::string& host, const nlohmann::json& counters) {
  analysis::HostReport report;
  report.host = host;
  report.qps = static_cast<uint32_t>(counter(counters, "qps"));
  report.qps_in_error = static_cast<uint32_t>(counter(counters, "qps_in_error"));
  report.bytes_verified = counter(counters, "bytes_verified");
  report.bytes_wrong = counter(counters, "bytes_mismatched");
  report.access_violations = counter(counters, "memory_faults");
  report.bytes_placed = counter(counters, "goodput_bytes");
  if (const auto queues = counters.find("queues"); queues != counters.end()) {
    for (const nlohmann::json& queue : *queues) {
      report.queues.push_back({Qpn{queue.at("qp").get<uint32_t>()},
                               Qpn{queue.at("remote").get<uint32_t>()},
                               queue.at("peer").get<uint32_t>(), counter(queue, "posted"),
                               counter(queue, "completed"), counter(queue, "failed"),
                               counter(queue, "out_of_order"), queue.at("in_error").get<bool>()});
    }
  }
  for (const auto& [name, value] : counters.items()) {
    if (!name.starts_with("qp_error.")) continue;
    const std::string reason = name.substr(std::string_view("qp_error.").size());
    report.error += (report.error.empty() ? "" : ", ") + reason;
  }
  return report;
}

analysis::HostReport host_report(const std::string& host, const endpoint::HostNode& node) {
  nlohmann::json counters;
  for (const auto& [name, value] : node.stats().named()) counters[name] = value;
  analysis::HostReport report = host_report(host, counters);
  for (const endpoint::QueueCounts& q : node.queues()) {
    report.queues.push_back(
        {q.local, q.remote, q.peer, q.posted, q.completed, q.failed, q.out_of_order, q.in_error});
  }
  return report;
}

void add_process_report(WorldOutcome& outcome, const Scenario& scenario,
                        const nlohmann::json& report) {
  const auto streams = history_from_text(report.at("history").get<std::string>());
  if (!streams) throw std::runtime_error("a daemon's report has a malformed history");
  outcome.history.insert(outcome.history.end(), streams->begin(), streams->end());
  for (const auto& [node, counters] : report.at("counters").items()) {
    const auto id = scenario.topology.find_node(node);
    if (id && scenario.topology.node(*id).role == NodeRole::kHost) {
      outcome.hosts.hosts.push_back(host_report(node, counters));
    }
  }
  outcome.timing.late_frames += counter(report, "late_frames");
  outcome.timing.gaps += counter(report, "gap_count");
  outcome.timing.min_slack_ns =
      std::min(outcome.timing.min_slack_ns, report.at("min_slack_ns").get<int64_t>());
  add_reasons(outcome.timing, report, scenario.timing == TimingMode::kCarried);
}

void write_history(std::vector<HistoryStream> streams, const RunFolder& folder) {
  std::sort(streams.begin(), streams.end(),
            [](const HistoryStream& a, const HistoryStream& b) { return a.name < b.name; });
  netio::write_file(folder.path / "history.txt", history_to_text(streams));
}

uint32_t default_threads(const Scenario& scenario, uint64_t history_bytes) {
  const bool large = scenario.topology.nodes.size() >= kLargeFabric;
  const bool files = scenario.captures != CaptureScope::kNone || history_bytes > 0;
  return large && !files && std::thread::hardware_concurrency() > 1 ? 2 : 1;
}

WorldOutcome run_simulated(const Scenario& scenario, const RunFolder& folder,
                           const SimOptions& options,
                           const std::function<bool(FabricTime)>& go_on) {
  const Topology& topology = scenario.topology;
  const bool captured = scenario.captures != CaptureScope::kNone;
  if ((captured || options.history_bytes > 0) && options.threads > 1) {
    throw std::logic_error("files of packets are written by one thread");
  }
  std::deque<netio::EventLog> events;  // one for each thread
  for (uint32_t i = 0; i < options.threads; ++i) {
    events.emplace_back(folder.path / "events" / fmt::format("sim-{}.jsonl", i));
  }
  netio::PcapngOptions snap;
  snap.snap_length = netio::kCaptureSnapLength;
  netio::PcapngWriter capture(folder.captures() / "sim.pcapng", snap);
  std::unique_ptr<netio::HistoryWriter> records;
  if (options.history_bytes > 0) {
    records = std::make_unique<netio::HistoryWriter>(folder.history() / "sim.bin",
                                                     stream_count(topology), options.history_bytes);
  }
  std::vector<std::unique_ptr<netio::RunRecorder>> recorders;
  for (const NodeSite& site : topology.nodes) {
    const bool passed = scenario.captures == CaptureScope::kAll || site.role == NodeRole::kHost;
    recorders.push_back(std::make_unique<netio::RunRecorder>(
        topology, site.id, scenario.stop(), captured ? &capture : nullptr, passed,
        &events[SimWorld::shard_of(topology, site.id, options.threads)], records.get()));
  }
  Simulation simulation(scenario, options.threads,
                        [&](NodeId node) -> NodeObserver& { return *recorders[node.value]; });
  simulation.run(go_on, options.until);

  WorldOutcome outcome;
  outcome.hosts = simulation.hosts();
  for (const auto& recorder : recorders) {
    const auto streams = recorder->history().streams();
    outcome.history.insert(outcome.history.end(), streams.begin(), streams.end());
  }
  capture.close();
  for (netio::EventLog& log : events) log.flush();
  if (records) records->close();
  return outcome;
}

}  // namespace mrclab::lab
