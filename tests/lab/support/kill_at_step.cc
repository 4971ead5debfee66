#include "tests/lab/support/kill_at_step.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <map>
#include <set>

#include "netio/system/system_error.h"

namespace mrclab::lab {
namespace {

using netio::check_system_call;

struct Step {
  long number;
  const char* name;
};
/// The filter holds one comparison each, so there must be fewer than 255.
constexpr std::array kSteps = {
    Step{SYS_unshare, "unshare"},
    Step{SYS_mount, "mount"},
    Step{SYS_umount2, "umount2"},
    Step{SYS_sendmsg, "sendmsg"},
    Step{SYS_sendto, "sendto"},
    Step{SYS_bind, "bind"},
    Step{SYS_mkdir, "mkdir"},
    Step{SYS_mkdirat, "mkdirat"},
    Step{SYS_rmdir, "rmdir"},
    Step{SYS_rename, "rename"},
    Step{SYS_renameat, "renameat"},
    Step{SYS_renameat2, "renameat2"},
    Step{SYS_clone, "clone"},
    Step{SYS_clone3, "clone3"},
    Step{SYS_fork, "fork"},
    Step{SYS_vfork, "vfork"},
    Step{SYS_symlink, "symlink"},
    Step{SYS_symlinkat, "symlinkat"},
    Step{SYS_unlink, "unlink"},
    Step{SYS_unlinkat, "unlinkat"},
    Step{SYS_execve, "execve"},
    Step{SYS_setns, "setns"},
    Step{SYS_memfd_create, "memfd_create"},
    Step{SYS_sethostname, "sethostname"},
    Step{SYS_ftruncate, "ftruncate"},
};

/// SECCOMP_RET_TRACE for the steps and for openat with O_CREAT, everything else runs at full speed.
void install_filter() {
  std::vector<sock_filter> code;
  const auto load = [&](size_t offset) {
    code.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset)));
  };
  load(offsetof(seccomp_data, nr));
  // After the comparisons: [openat check: 3 instructions] allow, trace.
  const size_t count = kSteps.size();
  for (size_t i = 0; i < count; ++i) {
    const auto to_trace = static_cast<uint8_t>(count - i - 1 + 1 + 2 + 1);
    code.push_back(
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(kSteps[i].number), to_trace, 0));
  }
  code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 2));
  load(offsetof(seccomp_data, args[2]));
  code.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_CREAT, 1, 0));
  code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE));
  sock_fprog program{static_cast<uint16_t>(code.size()), code.data()};
  check_system_call("keep privileges", ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
  check_system_call("install the filter", ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

/// Forks; the child waits for a byte on `gate` (if any) before it executes.
pid_t spawn(const std::vector<std::string>& words, const std::string& output_file, int gate) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const pid_t child = check_system_call("fork", ::fork());
  if (child != 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int out = ::open(output_file.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  ::dup2(::open("/dev/null", O_RDONLY), 0);
  ::dup2(out, 1);
  ::dup2(out, 2);
  try {
    char byte = 0;
    if (gate >= 0) {
      if (::read(gate, &byte, 1) != 1) ::_exit(126);
      install_filter();
    }
    ::execv(argv[0], argv.data());
  } catch (const std::exception&) {
  }
  ::_exit(126);
}

std::string field_of_status(pid_t pid, const std::string& field) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/status");
  for (std::string key, value; in >> key && std::getline(in, value);) {
    if (key == field) return value.substr(value.find_first_not_of(" \t"));
  }
  return {};
}

std::string step_name(pid_t pid) {
  user_regs_struct registers{};
  ::ptrace(PTRACE_GETREGS, pid, nullptr, &registers);
  const auto number = static_cast<long>(registers.orig_rax);
  for (const Step& step : kSteps) {
    if (step.number == number) return step.name;
  }
  return number == SYS_openat ? "openat" : "call " + std::to_string(number);
}

int code_of(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int64_t monotonic_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

class Tracer {
 public:
  Tracer(uint64_t kill_at, pid_t command) : kill_at_(kill_at), command_(command) {
    constexpr long kOptions = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                              PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
    check_system_call("trace the command", ::ptrace(PTRACE_SEIZE, command, nullptr, kOptions));
    tracees_.insert(command);
  }

  /// Takes one report of a child; waits for it if `block`. False if there was none.
  bool take(bool block) {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, __WALL | (block ? 0 : WNOHANG));
    if (pid <= 0) return false;
    if (WIFEXITED(status) || WIFSIGNALED(status)) {
      tracees_.erase(pid);
      ended_[pid] = code_of(status);
    } else if (WIFSTOPPED(status)) {
      tracees_.insert(pid);
      stopped(pid, status);
    }
    return true;
  }
  bool ended(pid_t pid) const { return ended_.contains(pid); }
  int code(pid_t pid) const { return ended_.at(pid); }
  bool all_ended() const { return tracees_.empty(); }
  void kill_all() {
    for (const pid_t pid : tracees_) ::kill(pid, SIGKILL);
  }

  uint64_t steps = 0;
  bool killed = false;
  std::string killed_at;

 private:
  void stopped(pid_t pid, int status) {
    const int event = status >> 16;
    const int signal_number = WSTOPSIG(status);
    if (event == PTRACE_EVENT_SECCOMP) return at_step(pid);
    if (event == PTRACE_EVENT_STOP) {
      const bool group_stop = signal_number == SIGSTOP || signal_number == SIGTSTP ||
                              signal_number == SIGTTIN || signal_number == SIGTTOU;
      ::ptrace(group_stop ? PTRACE_LISTEN : PTRACE_CONT, pid, nullptr, nullptr);
      return;
    }
    ::ptrace(PTRACE_CONT, pid, nullptr, event != 0 ? 0L : static_cast<long>(signal_number));
  }

  void at_step(pid_t pid) {
    if (!ended(command_)) ++steps;
    if (!killed && kill_at_ != 0 && steps == kill_at_ && !ended(command_)) {
      killed = true;
      const std::string group = field_of_status(pid, "Tgid:");
      killed_at = step_name(pid) + " in " + field_of_status(pid, "Name:");
      ::kill(group.empty() ? pid : std::stoi(group), SIGKILL);
      return;
    }
    ::ptrace(PTRACE_CONT, pid, nullptr, nullptr);
  }

  uint64_t kill_at_;
  pid_t command_;
  std::set<pid_t> tracees_;
  std::map<pid_t, int> ended_;
};

}  // namespace

TracedRun run_traced(const std::vector<std::string>& command, uint64_t kill_at,
                     const std::vector<std::string>& after, const std::string& output_file,
                     int grace_ms) {
  std::array<int, 2> gate{};
  check_system_call("make a pipe", ::pipe2(gate.data(), O_CLOEXEC));
  const pid_t child = spawn(command, output_file, gate[0]);
  Tracer tracer(kill_at, child);
  check_system_call("open the gate", ::write(gate[1], "x", 1));
  ::close(gate[0]);
  ::close(gate[1]);
  while (!tracer.ended(child) && tracer.take(true)) {
  }
  TracedRun run;
  run.steps = tracer.steps;
  run.killed = tracer.killed;
  run.killed_at = tracer.killed_at;
  run.code = tracer.code(child);
  // The traced processes that are left need this thread to go on while the clean-up runs.
  const pid_t cleaner = spawn(after, output_file, -1);
  while (!tracer.ended(cleaner) && tracer.take(true)) {
  }
  run.after_code = tracer.code(cleaner);
  const int64_t deadline = monotonic_ms() + grace_ms;
  while (!tracer.all_ended() && monotonic_ms() < deadline) {
    if (!tracer.take(false)) ::usleep(1000);
  }
  run.all_ended = tracer.all_ended();
  tracer.kill_all();
  while (!tracer.all_ended() && tracer.take(true)) {
  }
  return run;
}

}  // namespace mrclab::lab
