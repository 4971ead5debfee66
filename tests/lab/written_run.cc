#include "tests/lab/written_run.h"

#include "lab/run_inputs.h"
#include "lab/simulation.h"
#include "netio/run_recorder.h"

namespace mrclab::test {
namespace {

namespace fs = std::filesystem;
constexpr uint64_t kRecordBytes = uint64_t{1} << 30;

/// Where one process writes what its nodes do.
struct Process {
  Process(const lab::RunFolder& folder, const std::string& name, uint32_t streams)
      : capture(folder.captures() / (name + ".pcapng"), options()),
        events(folder.path / "events" / (name + ".jsonl")),
        records(folder.history() / (name + ".bin"), streams, kRecordBytes) {}

  static netio::PcapngOptions options() {
    netio::PcapngOptions options;
    options.snap_length = netio::kCaptureSnapLength;
    return options;
  }
  void close() {
    capture.close(told);
    events.close(told);
    records.close(told);
  }

  netio::PcapngWriter capture;
  netio::EventLog events;
  netio::HistoryWriter records;
  EvidenceSeal told;
};

size_t process_of(const Topology& topology, const NodeSite& site) {
  if (site.role != NodeRole::kHost) return 2;
  return site.index * 2 < topology.host_count() ? 0 : 1;
}

}  // namespace

WrittenRun write_run(const lab::Scenario& scenario, const fs::path& path) {
  const Topology& topology = scenario.topology;
  WrittenRun run{scenario, {}, {}, {}, {}, {path}};
  for (const char* sub : {"captures", "history", "events"}) fs::create_directory(path / sub);
  constexpr const char* kNames[] = {"hosts-0", "hosts-1", "planes"};
  std::deque<Process> processes;
  for (const char* name : kNames) processes.emplace_back(run.folder, name, stream_count(topology));
  std::deque<netio::RunRecorder> recorders;
  for (const NodeSite& site : topology.nodes) {
    Process& process = processes[process_of(topology, site)];
    process.told.nodes.push_back(site.id);
    recorders.emplace_back(topology, site.id, scenario.stop(), &process.capture,
                           site.role == NodeRole::kHost, &process.events, &process.records);
  }
  {
    lab::Simulation simulation(scenario, 1,
                               [&](NodeId node) -> NodeObserver& { return recorders[node.value]; });
    simulation.run([](FabricTime) { return true; });
    run.outcome.hosts = simulation.hosts();
  }
  for (Process& process : processes) process.close();
  for (const char* name : kNames) {
    run.captures.push_back(run.folder.captures() / (std::string(name) + ".pcapng"));
    run.records.push_back(run.folder.history() / (std::string(name) + ".bin"));
    run.event_logs.push_back(path / "logs" / (std::string(name) + ".jsonl"));
  }
  fs::copy(path / "events", path / "logs");  // the parts go away when they are merged
  lab::merge_events(run.folder);
  return run;
}

analysis::RunInputs WrittenRun::inputs() const {
  lab::WorldOutcome copy = outcome;
  analysis::RunInputs inputs = lab::run_inputs(scenario, "sim", std::move(copy));
  inputs.captures = captures;
  inputs.records = records;
  inputs.events = folder.path / "events.jsonl";
  return inputs;
}

analysis::Verdict judge_files(const analysis::RunInputs& inputs) {
  analysis::Evidence evidence(inputs.topology, inputs.schedule, inputs.end);
  analysis::read_files(inputs, evidence);
  return analysis::judge(inputs, evidence).verdict;
}

}  // namespace mrclab::test
