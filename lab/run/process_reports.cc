#include "lab/run/process_reports.h"

#include <fmt/format.h>

#include "netio/kernel/file_descriptor.h"
#include "netio/record/report_json.h"

namespace mrclab::lab {
namespace {

using netio::ReportError;

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
  read.report = netio::report_from_json<netio::ProcessReport>(in);
  const std::string& name = plan.processes[process].name;
  if (read.report.process != name) {
    throw ReportError(
        fmt::format("process: found \"{}\": expected \"{}\"", read.report.process, name));
  }
  check_nodes(read.report, topology, plan, process);
  read.streams = read.report.streams();
  const netio::ReportPlace nodes{.key = "nodes"};
  for (const auto& [node, account] : read.report.nodes) {
    const NodeSite& site = topology.node(*topology.find_node(node));
    if (site.role != NodeRole::kHost) continue;
    const netio::ReportPlace here{&nodes, node};
    read.hosts[site.index] = netio::report_from_json<endpoint::HostAccount>(account, here);
  }
  return read;
}

}  // namespace

ReadReport read_process_report(const nlohmann::json& json, const Topology& topology,
                               const ProcessPlan& plan, uint32_t process) {
  return named_errors(plan.processes[process].name,
                      [&] { return whole_report(json, topology, plan, process); });
}

ReadReport read_process_report(const std::filesystem::path& folder, const Topology& topology,
                               const ProcessPlan& plan, uint32_t process) {
  const std::string& name = plan.processes[process].name;
  return named_errors(name, [&] {
    try {
      const std::string text = netio::read_file(folder / (name + ".json"), kReportBytesMax);
      return whole_report(netio::parse_sealed_report(text), topology, plan, process);
    } catch (const netio::SystemError& error) {
      throw ReportError(error.error_number() == ENOENT ? "it left none" : error.what());
    }
  });
}

}  // namespace mrclab::lab
