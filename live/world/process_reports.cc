#include "live/world/process_reports.h"

#include <fmt/format.h>

#include <algorithm>

#include "fabric/history/report_json.h"
#include "netio/system/file_descriptor.h"
#include "scenario/judging/job_outcome.h"
#include "scenario/simulation/host_report.h"

namespace mrclab::lab {
namespace {

constexpr size_t kReportBytesMax = size_t{256} << 20;

/// Runs `read` and puts the process's name in front of its error.
template <class Read>
ReadReport named_errors(const std::string& process, Read read) {
  try {
    return read();
  } catch (const ReportError& error) {
    throw ReportError(fmt::format("the report of {}: {}", process, error.what()));
  }
}

void check_nodes(const netio::ProcessReport& report, const Topology& topology,
                 const ProcessPlan& plan, uint32_t process) {
  size_t expected = 0;
  for (const NodeSite& site : topology.nodes) {
    if (plan.process_of_node[site.id.value] != process) continue;
    ++expected;
    if (!report.nodes.contains(site.name)) {
      throw ReportError("nodes: found no \"" + site.name + "\"");
    }
  }
  if (report.nodes.size() != expected) {
    throw ReportError(
        fmt::format("nodes: found {}: expected its {}", report.nodes.size(), expected));
  }
}

ReadReport whole_report(const nlohmann::json& in, const Topology& topology, const ProcessPlan& plan,
                        uint32_t process) {
  ReadReport read;
  read.report = report_from_json<netio::ProcessReport>(in);
  const std::string& name = plan.processes[process].name;
  if (read.report.process != name) {
    throw ReportError(
        fmt::format("process: found \"{}\": expected \"{}\"", read.report.process, name));
  }
  check_nodes(read.report, topology, plan, process);
  read.streams = read.report.streams();
  const ReportPlace nodes{.key = "nodes"};
  for (const auto& [node, account] : read.report.nodes) {
    const NodeSite& site = topology.node(*topology.find_node(node));
    if (site.role != NodeRole::kHost) continue;
    const ReportPlace here{&nodes, node};
    read.hosts[site.index] = report_from_json<endpoint::HostAccount>(account, here);
  }
  return read;
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
  note(report.late_effects, "effects of faults came after their time");
  note(report.unknown_frames, "frames carried a trailer that is not this wire's");
  note(report.frame_pool_exhausted, "times there was no frame buffer");
  if (carried) note(report.foreign_frames, "frames came from outside the lab");
}

}  // namespace

ReadReport read_process_report(const nlohmann::json& report, const Topology& topology,
                               const ProcessPlan& plan, uint32_t process) {
  return named_errors(plan.processes[process].name,
                      [&] { return whole_report(report, topology, plan, process); });
}

ReadReport read_process_report(const std::filesystem::path& folder, const Topology& topology,
                               const ProcessPlan& plan, uint32_t process) {
  const std::string& name = plan.processes[process].name;
  return named_errors(name, [&] {
    try {
      const std::string text = netio::read_file(folder / (name + ".json"), kReportBytesMax);
      return whole_report(parse_sealed_report(text), topology, plan, process);
    } catch (const netio::SystemError& error) {
      throw ReportError(error.error_number() == ENOENT ? "it left none" : error.what());
    }
  });
}

void add_process_report(WorldOutcome& outcome, const Scenario& scenario, const ReadReport& read) {
  outcome.history.insert(outcome.history.end(), read.streams.begin(), read.streams.end());
  for (const auto& [number, account] : read.hosts) {
    const NodeSite& site = scenario.topology.node(scenario.topology.host(number));
    outcome.hosts.hosts.push_back(host_report(site.name, account));
    add_jobs(outcome, scenario, number, account.jobs);
  }
  if (!read.report.programs.empty()) outcome.held_programs.push_back(read.report.programs);
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
    } catch (const ReportError& error) {
      add_disturbance(outcome, error.what());
    }
  }
}

}  // namespace mrclab::lab
