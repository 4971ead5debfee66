#pragma once
// One scenario under several transports, in the simulator: it gives what a faithful live run would.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/verdict/verdict.h"
#include "console/interrupt.h"
#include "recorded/folder/run_folder.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {

/// The scenario under one of the transports, judged.
struct ComparedRun {
  std::string transport;
  std::string about;                   ///< what that is
  analysis::Verdict verdict;           ///< by what the scenario expects, as far as it can be asked
  std::vector<std::string> not_asked;  ///< what was left out of that, and why
  std::vector<analysis::CheckResult> contrast;  ///< what the scenario expects of this transport
  std::filesystem::path folder;

  /// Does it behave as the scenario states? True where that states nothing.
  bool as_told() const;
};

struct Comparison {
  std::string scenario;
  uint64_t seed = 0;
  FabricTime base_rtt, end;
  std::vector<ComparedRun> runs;  ///< in the order that was asked for
  std::filesystem::path page;     ///< empty: none was made
};

struct ComparisonOptions {
  /// The others are held against the first. Empty: compared_by_default().
  std::vector<std::string> transports = {};
  std::filesystem::path out = default_runs();
  IsInterrupted interrupted = {};
};

/// "mrc" and the contrasts of the scenario, or if it has none, every transport that has a name, needs no other
/// routing than the fabric's, and that the fabric can carry.
std::vector<std::string> compared_by_default(const Scenario& scenario);

/// Runs the scenario under each transport. Throws InputError, NameError, SystemError, Interrupted.
Comparison compare_transports(const Scenario& scenario, const ComparisonOptions& options);

/// The longest time from a fault's start to recovery; empty if a fault was not recovered from, or there
/// was none.
std::optional<FabricTime> longest_recovery(const analysis::Verdict& verdict);

/// Times from a fault's start, the longest of all faults that have one; empty if none has.
struct FaultTimes {
  std::optional<FabricTime> last_loss;
  /// Hosts stopped using the paths, or a switch lost its session with a neighbour.
  std::optional<FabricTime> noticed;
  std::optional<FabricTime> routed;  ///< the last switch wrote its table
};
FaultTimes longest_fault_times(const analysis::Verdict& verdict);

}  // namespace mrclab::lab
