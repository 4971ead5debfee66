#pragma once
// A run of the simulator that is written down as live ones are: by several processes, each with a
// capture, packet records and a log of events of its own nodes.

#include <deque>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "analysis/analyze.h"
#include "lab/run_folder.h"
#include "lab/scenario.h"
#include "lab/world_outcome.h"

namespace mrclab::test {

struct WrittenRun {
  const lab::Scenario& scenario;
  lab::WorldOutcome outcome;
  std::vector<std::filesystem::path> captures, records, event_logs;  ///< by process
  lab::RunFolder folder;

  /// What a judge of its files is told; the files lie there as they were written.
  analysis::RunInputs inputs() const;
};

/// `folder` exists and is empty. Two processes have the hosts, one has the switches.
WrittenRun write_run(const lab::Scenario& scenario, const std::filesystem::path& folder);

/// The verdict on files (without its picture).
analysis::Verdict judge_files(const analysis::RunInputs& inputs);

}  // namespace mrclab::test
