#pragma once
// Programs of the user as a workload: they run in hosts of a live lab and communicate over the
// fabric with the kernel's ordinary addresses, or by RDMA over the host's emulated NIC. They live in this machine's
// time, so the run's timing is `wall`; RDMA programs may be held at fabric time instead (`timing: held`).
//
//   workload:
//     - exec: {host: h4, command: "iperf3 -s -1", until: end}
//     - exec: {host: h0, command: "iperf3 -c $MRCLAB_ADDRESS_h4 -t 3", at: 100us, timeout: 20s}
//     - exec: {host: h1, command: "ib_write_bw h0", at: 200us}
//
// The command goes to sh -c, in the scenario's folder (or `cwd:`), as the user who runs mrclab. It
// starts when fabric time has come to `at`. With `until: end` it is ended with the run; without, it
// must end by itself before, with exit code 0 (or whatever it likes, with `may_fail: true`).
// `timeout` is time of this machine. Environment: MRCLAB_HOST, MRCLAB_ADDRESS (of that host),
// MRCLAB_ADDRESS_<host> (of every host; also in /etc/hosts), MRCLAB_RUN (the run folder),
// MRCLAB_SEED, MRCLAB_DILATION, and those of RDMA programs (lab/rdma/program_surroundings.h). What it prints is in the run folder, logs/exec-<number>-<host>.log.

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/verdict/verdict.h"
#include "fabric/base/units.h"
#include "lab/run/user_program.h"
#include "scenario/spec/program_spec.h"

namespace mrclab::lab {

/// What is the same for all programs of a run.
struct ExecRun {
  uint64_t seed = 0;
  double dilation = 0;
  std::filesystem::path run_folder;  ///< absolute
  bool has_rc = false;               ///< the transport: `profile: roce`
  bool held = false;                 ///< `timing: held`
};

class LiveFabric;

/// The programs of one run. Ended with this object, if they were not before.
class ExecPrograms {
 public:
  /// `fabric` and `specs` outlive it. Throws InputError where a held program's library is missing.
  ExecPrograms(const LiveFabric& fabric, const std::vector<ExecSpec>& specs, ExecRun run);
  ~ExecPrograms();
  ExecPrograms(const ExecPrograms&) = delete;
  ExecPrograms& operator=(const ExecPrograms&) = delete;

  /// To be called every few milliseconds: starts what is due at `now`, sees what has ended.
  void step(FabricTime now);
  /// Ends all that still runs, and returns one check for each program.
  std::vector<analysis::CheckResult> finish();

 private:
  void start(size_t index);
  bool is_held(const ExecSpec& spec) const;
  void end_all();
  analysis::CheckResult check_of(size_t index) const;

  const LiveFabric& fabric_;
  const std::vector<ExecSpec>& specs_;
  std::optional<std::filesystem::path> libraries_;  ///< rdma_libraries()
  ExecRun run_;
  std::vector<std::pair<std::string, std::string>> addresses_;
  std::vector<std::unique_ptr<UserProgram>> programs_;  ///< by spec; null: not started
  std::vector<std::string> not_started_;                ///< by spec: why
  std::set<size_t> started_;                            ///< or tried to
};

}  // namespace mrclab::lab
