#pragma once
// The verbs `run` and `demo`: scenarios to verdicts, with progress on the way.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lab/run/scenario_run.h"
#include "recorded/folder/run_folder.h"

namespace mrclab::lab {

struct RunCommandOptions {
  std::vector<std::string> scenarios;  ///< files, or names of shipped incidents
  World world = World::kLive;
  std::optional<uint64_t> seed;
  std::optional<std::string> seeds;         ///< "1-20": a run with each (run_sweep.h)
  std::vector<std::string> sets;            ///< "KEY=VALUE", "KEY=V1,V2"
  std::optional<std::string> fabric;        ///< in place of the scenario's
  std::optional<std::string> forwarding;    ///< switchd | kernel | ovs, of all switches
  std::optional<std::string> transport;     ///< a name as in `compare`; empty: the scenario's
  std::optional<std::string> until;         ///< ends the run here: "300us", "40rtt"
  std::optional<uint32_t> dilation;         ///< a fixed pace
  std::optional<std::string> captures;      ///< hosts | all | none
  std::optional<std::string> capture_size;  ///< bound of each capture file: "200MiB"
  std::optional<std::string> taps;          ///< hosts | all | none
  std::string history = "records";          ///< records | digest | a size such as 1GiB of records
  std::optional<std::string> payload;       ///< real | elided
  /// Threads of the simulator; 0: by the size of the fabric.
  uint32_t threads = 0;
  RankLink* ranks = nullptr;                   ///< as in RunOptions
  std::filesystem::path out = default_runs();  ///< where run folders go
  std::optional<std::string> series;  ///< a time: what ports counted at its steps, as files
  std::vector<std::string> without;   ///< mechanisms to switch off (scenario/spec/mechanism.h)
  bool no_cost = false;               ///< no run without the faults for what they cost
  bool isolate = false;               ///< one process per node
  bool realtime = false;              ///< SCHED_FIFO for the daemons
  bool verbose = false;               ///< each step on stderr, more in the logs
  /// Run programs of another user's scenario without asking.
  bool programs = false;
  std::optional<std::string> against;   ///< a stored verdict.json
  std::vector<std::string> tolerances;  ///< "goodput=2%", "exact" (analysis/report/regression.h)
  bool json = false;                    ///< print verdict.json (a list for several scenarios)
  bool csv = false;                     ///< a sweep as CSV
};

/// A scenario as the options have it, with these values and this seed. Throws InputError.
Scenario load_for_run(const RunCommandOptions& options, size_t scenario,
                      const std::vector<SetValue>& sets, std::optional<uint64_t> seed);
/// What one execution is asked for, but for its view and what it is held against.
RunOptions run_options(const RunCommandOptions& options);

/// Runs the scenarios one after the other. Returns the worst exit code: 1 fail before 3
/// inconclusive before 0 pass. Bad input (any file) starts nothing and throws InputError.
int run_command(const RunCommandOptions& options);

/// The main job: the optic glitch on the octet, live, with a short introduction.
int demo_command(const std::filesystem::path& out);

}  // namespace mrclab::lab
