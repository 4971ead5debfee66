#pragma once
// The daemons of a live lab: started with their configuration, awaited, watched, replaced by a successor
// when their switch loses its power, ended.
//
// LiveLab calls start() when the namespaces are there, await_ready() when everything else is, and look() in each step.

#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "live/bringup/bring_up.h"
#include "live/world/live_lab_options.h"
#include "live/world/outside_faults.h"
#include "live/world/process_plan.h"
#include "netio/runtime/daemon_start.h"
#include "netio/runtime/gate.h"
#include "netio/runtime/schedule_file.h"
#include "netio/runtime/shared_page.h"
#include "netio/system/child_process.h"

namespace mrclab::lab {

/// A process was killed because its switch had lost its power, and another took its place.
struct PowerNote {
  FabricTime t;  ///< committed by the process
  uint32_t process = 0;
  pid_t killed = 0;
  pid_t started = 0;
};

/// Where our programs lie; empty: beside this one.
std::filesystem::path program_directory(const std::filesystem::path& programs);

class DaemonFleet {
 public:
  /// How long a process may do nothing, while others wait for it, before it is taken out of the
  /// gate.
  static constexpr std::chrono::milliseconds kGatePatience{5000};

  /// All of them outlive this; `page` holds a gate for the processes of `plan`, `wires` their channels, if they
  /// have any.
  DaemonFleet(const LiveLabOptions& options, const ProcessPlan& plan, LiveFabric& fabric,
              netio::SharedPage& page, const std::optional<netio::SharedPage>& wires);

  /// Starts every daemon with the schedule of the options; each opens its rings, and waits until the gate has
  /// the links.
  void start();
  /// With the links there: waits until all are ready. Throws std::runtime_error with a daemon's last lines if it does
  /// not get ready.
  void await_ready();
  /// The daemons take this schedule before they commit anything more.
  void replace_schedule(const netio::Schedule& schedule);
  /// Kills a process that has nothing under way, and starts its successor, which goes on where it
  /// was. What went wrong is added to `faults`.
  void replace(uint32_t process, OutsideFaults& faults);
  /// Adds to `faults` which daemons have ended since the last call.
  void look_for_ended(OutsideFaults& faults);
  /// The same, and which have stood still for too long; these are out of the gate from now on.
  void find_stopped(OutsideFaults& faults);
  /// Asks all of them to end, which write their reports before. Idempotent.
  void end();

  FabricTime now() const;  ///< committed by every process
  bool any_ready() const;  ///< and neither finished nor lost
  pid_t pid_of(uint32_t process) const { return children_[process]->pid(); }
  /// What a daemon answers over its control socket. It looks there every 5 ms (20 ms while nothing may be
  /// committed), but a machine that is busy with other work may keep it from running for seconds: 5 of them
  /// are waited for (our choice), and one that was stopped from outside holds the caller up for as long.
  /// Throws netio::SystemError or RpcError if there is no answer.
  nlohmann::json ask(uint32_t process, const char* method,
                     const nlohmann::json& parameters = nullptr) const;
  /// Where daemons write if the options ask to follow their records.
  std::filesystem::path records_folder() const;
  const std::vector<PowerNote>& power_notes() const { return power_notes_; }
  void forget_notes() { power_notes_.clear(); }

 private:
  /// Those of one program by one start of it.
  void start_daemons();
  void take_daemons(std::chrono::steady_clock::time_point deadline);
  /// The program of these processes, which are of one kind, and how it is started.
  netio::ChildOptions program_of(const std::vector<uint32_t>& processes) const;
  void write_config(uint32_t process, const std::filesystem::path& resume_file) const;
  /// `resume_file`: what a predecessor left; empty for the first of its place.
  std::unique_ptr<netio::ChildProcess> start_daemon(uint32_t process,
                                                    const std::filesystem::path& resume_file);
  netio::DaemonConfig config_of(uint32_t process, const std::filesystem::path& resume_file) const;
  /// For a successor.
  void kill(uint32_t process);
  void wait_until_ready(uint32_t process, std::chrono::steady_clock::time_point deadline);
  std::filesystem::path control_socket(uint32_t process) const;
  const std::string& name_of(uint32_t process) const { return plan_.processes[process].name; }
  std::filesystem::path file(const std::string& name) const;  ///< in the lab's folder
  /// What a process printed last, with a colon before it; empty if nothing.
  std::string last_words(uint32_t process) const;

  const LiveLabOptions& options_;
  const ProcessPlan& plan_;
  LiveFabric& fabric_;
  netio::SharedPage& page_;
  const std::optional<netio::SharedPage>& wires_;
  netio::GatePage& gate_;
  std::vector<std::unique_ptr<netio::ChildProcess>> children_;
  /// Programs that fork these processes; none once await_ready() has taken them.
  std::vector<std::pair<netio::DaemonStart, std::vector<uint32_t>>> starts_;
  std::vector<uint32_t> incarnation_;  ///< by process
  std::vector<PowerNote> power_notes_;
};

}  // namespace mrclab::lab
