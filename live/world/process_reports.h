#pragma once
// The reports of a lab's daemons, read back. A report that is missing or broken, comes from another
// process or lacks one of its nodes is a ReportError: no number is ever made up.

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "endpoint/host/host_account.h"
#include "fabric/topology/topology.h"
#include "live/world/process_plan.h"
#include "netio/record/process_report.h"
#include "scenario/judging/world_outcome.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {

/// One daemon's report, with its hosts' own reports.
struct ReadReport {
  netio::ProcessReport report;
  std::vector<HistoryStream> streams;
  std::map<uint32_t, endpoint::HostAccount> hosts;  ///< by host number
};

/// Reads a report that came over a control socket. It must come from process number `process` of
/// the plan and name just its nodes. Throws ReportError, with the process's name in front.
ReadReport read_process_report(const nlohmann::json& report, const Topology& topology,
                               const ProcessPlan& plan, uint32_t process);
/// Reads the report from the file <process>.json in `folder`.
ReadReport read_process_report(const std::filesystem::path& folder, const Topology& topology,
                               const ProcessPlan& plan, uint32_t process);

/// Adds what one daemon wrote about itself; what was not faithful becomes a reason.
void add_process_report(WorldOutcome& outcome, const Scenario& scenario, const ReadReport& read);

/// Adds what every daemon of the plan left in the folder `reports`. A report
/// that is missing or broken is a disturbance.
void add_process_reports(WorldOutcome& outcome, const Scenario& scenario, const ProcessPlan& plan,
                         const std::filesystem::path& reports);

}  // namespace mrclab::lab
