#pragma once
// The reports of a lab's daemons, read back. A report that is missing or broken, comes from another
// process or lacks one of its nodes is a netio::ReportError: no number is ever made up.

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "endpoint/host/host_account.h"
#include "fabric/topology/topology.h"
#include "lab/live/process_plan.h"
#include "netio/record/process_report.h"

namespace mrclab::lab {

/// One daemon's report, with what its hosts say of themselves.
struct ReadReport {
  netio::ProcessReport report;
  std::vector<HistoryStream> streams;
  std::map<uint32_t, endpoint::HostAccount> hosts;  ///< by host number
};

/// Reads a report that came over a control socket. It must come from process number `process` of
/// the plan and name just its nodes. Throws ReportError, with the process's name in front.
ReadReport read_process_report(const nlohmann::json& json, const Topology& topology,
                               const ProcessPlan& plan, uint32_t process);
/// Reads the report from the file <process>.json in `folder`.
ReadReport read_process_report(const std::filesystem::path& folder, const Topology& topology,
                               const ProcessPlan& plan, uint32_t process);

}  // namespace mrclab::lab
