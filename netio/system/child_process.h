#pragma once
// A child process that cannot outlive this one: it gets SIGKILL when the thread that started it
// dies (PR_SET_PDEATHSIG), and the destructor kills and reaps it.

#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "netio/system/file_descriptor.h"

namespace mrclab::netio {

/// How a process ended.
struct ExitStatus {
  int code = 0;  ///< exit code; meaningless when signalled
  int signal_number = 0;
  bool clean() const { return code == 0 && signal_number == 0; }
};
std::string to_string(const ExitStatus& status);  ///< "exit code 3", "signal 9 (Killed)"

/// A program in PATH or in a folder that some shells do not have in it, such as /usr/sbin or FRR's.
std::optional<std::filesystem::path> find_program(const std::string& name);

/// `fd` of this process becomes `as` in the child.
struct InheritedFd {
  int fd = -1;
  int as = -1;
};

struct ChildOptions {
  std::vector<std::string> argv;         ///< argv[0] is a path, or searched in PATH
  std::vector<InheritedFd> descriptors;  ///< besides 0 (/dev/null), 1 and 2: nothing else
  std::filesystem::path stdout_file;     ///< appended to; empty: this process's own
  int stdout_fd = -1;                    ///< in place of the file: a pipe of the caller's
  std::filesystem::path stderr_file;     ///< empty: where stdout goes
  std::vector<std::pair<std::string, std::string>> environment;  ///< added to this process's
  /// Out of the terminal's foreground group, so that Ctrl-C reaches the parent alone.
  bool own_process_group = true;
  std::filesystem::path working_directory;  ///< empty: this process's
  /// Runs in the child before the program starts, to enter a node; may throw SystemError.
  std::function<void()> before_exec;
};

class ChildProcess {
 public:
  /// Returns when exec has succeeded; throws SystemError when it has not.
  static ChildProcess spawn(const ChildOptions& options);
  /// A child of this process that another one made for it (fork_sibling), and that nobody has waited for.
  static ChildProcess adopt(pid_t pid, std::string name);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();

  pid_t pid() const { return pid_; }
  /// Readable when the child has ended.
  int pidfd() const { return pidfd_.get(); }
  const std::string& name() const { return name_; }
  /// Waits up to `timeout` for the child's end; empty if it still runs then. Repeated calls return
  /// the same status.
  std::optional<ExitStatus> wait(std::chrono::milliseconds timeout);
  bool running() { return !wait(std::chrono::milliseconds(0)); }
  /// What somebody did to it with SIGSTOP and SIGCONT since the last call, however briefly: "was stopped",
  /// "was stopped and runs again", "runs again"; empty if nothing.
  std::string take_stops();
  /// Sends a signal; has no effect on a child that has ended.
  void signal(int number);
  /// Has it ended? Unlike wait() this leaves it a zombie, so that its process group can still be signalled.
  bool ended() const;
  /// Signals the child's process group, which may have members when the child has ended(). No
  /// effect once wait() has returned the status: from then on the number may be another group's.
  void signal_group(int number);
  /// Sends SIGTERM, then SIGKILL after `grace`. Also ends a stopped (SIGSTOP) child.
  ExitStatus stop(std::chrono::milliseconds grace);

 private:
  ChildProcess(pid_t pid, FileDescriptor pidfd, std::string name)
      : pid_(pid), pidfd_(std::move(pidfd)), name_(std::move(name)) {}

  pid_t pid_ = -1;
  FileDescriptor pidfd_;
  std::string name_;
  std::optional<ExitStatus> status_;
  bool stopped_ = false;  ///< by take_stops()
};

}  // namespace mrclab::netio
