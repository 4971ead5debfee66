#pragma once
// A run of the simulator that is written down as live ones are: by several processes, each with a
// capture, packet records, a log of events and a report of its own nodes.

#include <deque>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "analysis/judge/analyze.h"
#include "lab/run/simulated_run.h"
#include "live/world/live_lab.h"
#include "live/world/process_reports.h"
#include "recorded/folder/run_folder.h"
#include "scenario/spec/scenario.h"

namespace mrclab::test {

struct WrittenRun {
  const lab::Scenario& scenario;
  lab::ProcessPlan plan;
  std::vector<std::filesystem::path> captures, records, event_logs, reports;  ///< by process
  lab::RunFolder folder;
  std::filesystem::path taps = {};  ///< empty: there were none

  /// What a judge of its files gets; the files lie there as they were written.
  analysis::RunInputs inputs() const { return inputs(folder.reports()); }
  /// With the reports of the processes in another folder.
  analysis::RunInputs inputs(const std::filesystem::path& reports) const;
};

/// `folder` exists and is empty. Two processes have the hosts, one has the switches.
WrittenRun write_run(const lab::Scenario& scenario, const std::filesystem::path& folder);

/// What a live run of the scenario left, two processes having the hosts.
WrittenRun live_run(const lab::Scenario& scenario, const lab::RunFolder& folder);

/// The verdict on files.
analysis::Verdict judge_files(const analysis::RunInputs& inputs);

}  // namespace mrclab::test
