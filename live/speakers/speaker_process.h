#pragma once
// A speaker of a plan (speaker_plan.h) as processes: ours, FRR, BIRD or ExaBGP, in a network namespace and with a
// folder of its own for configuration, sockets, pid files and logs. Nothing of such a program that the machine may
// run is touched, and nothing is left outside of the folder.

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "live/bgpd/speaker_plan.h"
#include "netio/kernel/namespace.h"
#include "netio/system/child_process.h"

namespace mrclab::lab {

/// Programs that `program` needs and that this machine does not have, and the package they are in.
struct MissingSpeaker {
  std::vector<std::string> programs;
  std::string package;
};
std::optional<MissingSpeaker> missing_speaker(SpeakerProgram program);
/// "FRRouting 8.4.4", "BIRD 2.0.12", "ExaBGP 4.2.21"; empty if it is not there.
std::string speaker_version(SpeakerProgram program);

struct SpeakerPlace {
  const netio::NetworkNamespace& where;  ///< outlives the processes
  std::filesystem::path folder;          ///< made if it is not there
  std::filesystem::path own_programs;    ///< where mrc-bgpd is
  std::vector<std::pair<std::string, std::string>> environment = {};
  std::string config = {};  ///< in place of the plan's, where it is not empty
  /// Called with each process that was started.
  std::function<void(pid_t, const std::string& program)> started = {};
};

class SpeakerProcess {
 public:
  /// Returns when the processes run; sessions come up later. Throws InputError when a program is missing,
  /// SystemError when one does not start.
  SpeakerProcess(const SpeakerPlan& plan, SpeakerProgram program, const SpeakerPlace& place);
  /// Ends them, and removes the folder.
  ~SpeakerProcess();
  SpeakerProcess(const SpeakerProcess&) = delete;
  SpeakerProcess& operator=(const SpeakerProcess&) = delete;

  /// A process that has ended, and how: "bird: signal 9 (Killed)".
  std::optional<std::string> check();
  /// What somebody did to its processes with SIGSTOP and SIGCONT since the last call: "bgpd was stopped"; empty if
  /// nothing.
  std::string take_stops();
  /// The netlink ports by which its processes ask the kernel for routes.
  std::set<uint32_t> netlink_ports() const;
  /// The output of vtysh or birdc for a command, errors included.
  std::string ask(const std::string& command) const;
  pid_t pid() const { return children_.back()->pid(); }
  const std::filesystem::path& folder() const { return place_.folder; }

 private:
  void write(const std::string& name, const std::string& text) const;
  void start(const std::string& program, std::vector<std::string> arguments,
             const std::string& ready);
  void start_frr(const SpeakerPlan& plan, const std::string& config);
  std::string path(const std::string& name) const { return place_.folder / name; }

  SpeakerProgram program_;
  SpeakerPlace place_;
  std::vector<std::unique_ptr<netio::ChildProcess>> children_;  ///< in the order of their start
};

}  // namespace mrclab::lab
