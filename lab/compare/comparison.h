#pragma once
// One scenario under several transports, in the simulator: it gives what a faithful live run would.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/report/verdict.h"
#include "lab/compare/compared_transport.h"
#include "lab/console/interrupt.h"
#include "lab/scenario/scenario.h"

namespace mrclab::lab {

/// The scenario under one of the transports, judged.
struct ComparedRun {
  std::string transport;
  analysis::Verdict verdict;
  std::filesystem::path folder;
};

struct Comparison {
  std::string scenario;
  uint64_t seed = 0;
  FabricTime base_rtt;
  std::vector<ComparedRun> runs;  ///< in the order that was asked for
  std::filesystem::path page;     ///< empty: none was made
};

struct ComparisonOptions {
  /// At least one; the others are held against the first.
  std::vector<std::string> transports = transport_names();
  std::filesystem::path out = "runs";
  IsInterrupted interrupted = {};
};

/// Runs the scenario under each transport. Throws InputError, NameError, SystemError, Interrupted.
Comparison compare_transports(const Scenario& scenario, const ComparisonOptions& options);

/// The longest time from a fault's start to recovery; empty if a fault was not recovered from, or there
/// was none.
std::optional<FabricTime> longest_recovery(const analysis::Verdict& verdict);

}  // namespace mrclab::lab
