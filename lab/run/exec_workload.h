#pragma once
// Programs of the user as a workload: they run in hosts of a live lab and communicate over the
// fabric with the kernel's ordinary addresses or by verbs of the host's NIC. They live in this machine's time, so the
// run's timing is `wall`; or they are held (verbs/held), in a live lab or in the simulated world, and live at the fabric's.
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
// MRCLAB_SEED, MRCLAB_DILATION, and for RDMA those of rdma/program_surroundings.h. What it prints is in the run folder, logs/exec-<number>-<host>.log.

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/verdict/verdict.h"
#include "fabric/base/units.h"
#include "fabric/topology/topology.h"
#include "lab/run/user_program.h"
#include "netio/kernel/namespace.h"
#include "netio/kernel/node_container.h"
#include "scenario/spec/scenario_value.h"
#include "verbs/server/held/held_world.h"

namespace mrclab::lab {

/// What is the same for all programs of a run.
struct ExecRun {
  uint64_t seed = 0;
  double dilation = 0;
  std::filesystem::path run_folder;  ///< absolute
};

class LiveFabric;

/// Where the programs of a run live.
struct ExecPlace {
  const Topology& topology;
  std::filesystem::path directory;  ///< has the hosts file, and a /run for each node
  std::function<const netio::NetworkNamespace&(NodeId node)> network;
  /// NAME=VALUE, by which clean-up finds a lab's processes, wherever they went; empty: there is no clean-up.
  std::string instance_variable;
};
ExecPlace place_of(const LiveFabric& fabric);

/// The socket at which a held program finds its host, in the host's /run. `program`: its place in Scenario::programs.
std::filesystem::path held_socket(size_t program);

/// The programs of one run. Ended with this object, if they were not before.
class ExecPrograms {
 public:
  /// What `place` refers to and `scenario` outlive it. Throws InputError where a held program's library is missing.
  ExecPrograms(ExecPlace place, const Scenario& scenario, ExecRun run);
  ~ExecPrograms();
  ExecPrograms(const ExecPrograms&) = delete;
  ExecPrograms& operator=(const ExecPrograms&) = delete;

  /// Starts the held ones, whenever their time comes: each waits for it. To be called before fabric time starts.
  void start_held();
  /// To be called every few milliseconds: starts what is due at `now`, sees what has ended.
  void step(FabricTime now);
  /// What became of held programs, by the processes that held them.
  void set_reports(std::vector<verbs::HeldReport> reports) { reports_ = std::move(reports); }
  /// Ends all that still runs, and returns one check for each program. One that has ended at fabric time is waited for.
  /// `interrupted`: the run was given up, so a held program that had not ended before shows nothing.
  std::vector<analysis::CheckResult> finish(bool interrupted = false);

 private:
  void start(size_t index);
  void add_rdma(size_t index, UserProgram::Options& options, netio::NodeContainer& container) const;
  void await_ended();
  void hang_up(size_t index);
  const verbs::HeldReport* report_of(size_t index) const;
  void end_all();
  analysis::CheckResult check_of(size_t index) const;

  ExecPlace place_;
  const Scenario& scenario_;
  const std::vector<ExecSpec>& specs_;
  std::optional<std::filesystem::path> libraries_;  ///< rdma_libraries()
  ExecRun run_;
  std::vector<std::pair<std::string, std::string>> addresses_;
  std::vector<std::unique_ptr<UserProgram>> programs_;  ///< by spec; null: not started
  std::vector<std::string> not_started_;                ///< by spec: why
  std::set<size_t> started_;                            ///< or tried to
  std::set<size_t> hung_up_;                            ///< held ones that have ended
  std::vector<verbs::HeldReport> reports_;
};

}  // namespace mrclab::lab
