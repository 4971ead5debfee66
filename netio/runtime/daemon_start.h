#pragma once
// Many daemons by one start of their program. Loading a program and its libraries takes longer than all that
// a daemon of one node does until it is ready, and reading the fabric comes next. So the lab starts the
// program once, with the configuration files of all its daemons: it reads the fabric, forks a sibling for
// each file, writes their pids to the lab, and ends. They are the lab's children, as if it had started each.

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "netio/runtime/daemon_config.h"
#include "netio/system/child_process.h"

namespace mrclab::netio {

/// In the program, whose arguments are configuration files: forks a copy for each. Returns a copy its
/// configuration; it prints to its own file then, and `ps` shows it with its own argument alone. The program
/// itself has reported all copies to the lab when this returns nothing. Throws SystemError or what is wrong with
/// a file.
std::optional<DaemonConfig> fork_for_each(std::span<char*> argv);

/// In the lab: a program that is about to fork its daemons.
class DaemonStart {
 public:
  /// `options.argv` is the program and the daemons' configuration files, two at least.
  explicit DaemonStart(ChildOptions options);
  DaemonStart(DaemonStart&&) noexcept = default;
  DaemonStart& operator=(DaemonStart&&) = delete;
  /// Kills the program and the daemons that take() has not returned.
  ~DaemonStart();

  /// Waits until the program has ended, and returns the daemons in the order of their files: fewer of them if
  /// it failed, see ended(). Throws SystemError.
  std::vector<std::unique_ptr<ChildProcess>> take(std::chrono::steady_clock::time_point deadline);
  /// How the program ended; empty if it has not.
  std::optional<ExitStatus> ended() { return program_.wait(std::chrono::milliseconds(0)); }

 private:
  FileDescriptor pids_;
  ChildProcess program_;
};

}  // namespace mrclab::netio
