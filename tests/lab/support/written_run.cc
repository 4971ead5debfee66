#include "tests/lab/support/written_run.h"

#include "endpoint/host/host_account.h"
#include "fabric/history/report_json.h"
#include "lab/run/run_taps.h"
#include "netio/record/process_report.h"
#include "netio/record/run_recorder.h"
#include "netio/system/file_descriptor.h"
#include "scenario/judging/run_inputs.h"
#include "scenario/simulation/simulation.h"

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

uint32_t process_of(const Topology& topology, const NodeSite& site) {
  if (site.role != NodeRole::kHost) return 2;
  return site.index * 2 < topology.host_count() ? 0 : 1;
}

lab::ProcessPlan plan_of(const Topology& topology) {
  lab::ProcessPlan plan{{{"hosts-0", true}, {"hosts-1", true}, {"planes", false}}, {}};
  for (const NodeSite& site : topology.nodes) {
    plan.process_of_node.push_back(process_of(topology, site));
  }
  return plan;
}

/// Every process's report of itself and its nodes.
std::vector<netio::ProcessReport> reports_of(const WrittenRun& run,
                                             const lab::Simulation& simulation,
                                             const std::deque<netio::RunRecorder>& recorders) {
  std::vector<netio::ProcessReport> reports(run.plan.processes.size());
  for (size_t i = 0; i < reports.size(); ++i) reports[i].process = run.plan.processes[i].name;
  for (const NodeSite& site : run.scenario.topology.nodes) {
    netio::ProcessReport& report = reports[run.plan.process_of_node[site.id.value]];
    report.history += history_to_text(recorders[site.id.value].history().streams());
    report.nodes[site.name] = site.role == NodeRole::kHost
                                  ? report_to_json(simulation.account(site.index))
                                  : nlohmann::json::object();
  }
  return reports;
}

}  // namespace

WrittenRun write_run(const lab::Scenario& scenario, const fs::path& path) {
  const Topology& topology = scenario.topology;
  WrittenRun run{scenario, plan_of(topology), {}, {}, {}, {}, {path}};
  for (const char* sub : {"captures", "history", "events", "reports"}) {
    fs::create_directory(path / sub);
  }
  std::deque<Process> processes;
  for (const auto& process : run.plan.processes) {
    processes.emplace_back(run.folder, process.name, stream_count(topology));
  }
  std::deque<netio::RunRecorder> recorders;
  for (const NodeSite& site : topology.nodes) {
    Process& process = processes[run.plan.process_of_node[site.id.value]];
    process.told.nodes.push_back(site.id);
    recorders.emplace_back(topology, site.id, scenario.stop(), &process.capture,
                           site.role == NodeRole::kHost, &process.events, &process.records);
  }
  {
    lab::Simulation simulation(scenario, 1,
                               [&](NodeId node) -> NodeObserver& { return recorders[node.value]; });
    simulation.run([](FabricTime) { return true; });
    for (const netio::ProcessReport& report : reports_of(run, simulation, recorders)) {
      run.reports.push_back(run.folder.reports() / (report.process + ".json"));
      netio::write_file(run.reports.back(), sealed_report(report_to_json(report)));
    }
  }
  for (Process& process : processes) process.close();
  for (const auto& [name, endpoints] : run.plan.processes) {
    run.captures.push_back(run.folder.captures() / (name + ".pcapng"));
    run.records.push_back(run.folder.history() / (name + ".bin"));
    run.event_logs.push_back(path / "logs" / (name + ".jsonl"));
  }
  fs::copy(path / "events", path / "logs");  // the parts go away when they are merged
  lab::merge_events(run.folder);
  return run;
}

WrittenRun live_run(const lab::Scenario& scenario, const lab::RunFolder& folder) {
  WrittenRun run{scenario, lab::plan_processes(scenario.topology, false, 2), {}, {}, {}, {},
                 folder};
  run.captures = analysis::captures_in(folder.captures());
  run.records = analysis::records_in(folder.history());
  for (const auto& [name, endpoints] : run.plan.processes) {
    run.reports.push_back(folder.reports() / (name + ".json"));
  }
  if (scenario.taps != lab::CaptureScope::kNone) run.taps = lab::tap_file(folder);
  return run;
}

analysis::RunInputs WrittenRun::inputs(const fs::path& told) const {
  lab::WorldOutcome outcome;
  lab::add_process_reports(outcome, scenario, plan, told);
  analysis::RunInputs inputs = lab::run_inputs(scenario, "sim", std::move(outcome));
  inputs.captures = captures;
  inputs.records = records;
  inputs.events = folder.path / "events.jsonl";
  inputs.taps = taps;
  return inputs;
}

analysis::Verdict judge_files(const analysis::RunInputs& inputs) {
  if (!inputs.taps.empty()) return analysis::analyze(inputs).verdict;
  analysis::Evidence evidence(inputs.topology, inputs.schedule, inputs.end);
  analysis::read_files(inputs, evidence);
  return analysis::judge(inputs, evidence).verdict;
}

}  // namespace mrclab::test
