#include "netio/system/child_process.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <boost/process/environment.hpp>
#include <boost/process/search_path.hpp>
#include <cstring>

#include "netio/system/output_folder.h"

extern "C" char** environ;

namespace mrclab::netio {
namespace {

int pidfd_open(pid_t pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }

std::vector<char*> argument_pointers(const std::vector<std::string>& words) {
  std::vector<char*> result;
  result.reserve(words.size() + 1);
  for (const std::string& word : words) result.push_back(const_cast<char*>(word.c_str()));
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> merged_environment(const ChildOptions& options) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string_view key = text.substr(0, text.find('='));
    bool replaced = false;
    for (const auto& [name, value] : options.environment) replaced |= name == key;
    if (!replaced) result.emplace_back(text);
  }
  for (const auto& [name, value] : options.environment) {
    result.emplace_back(name).append("=").append(value);
  }
  return result;
}

FileDescriptor open_output(const std::filesystem::path& path) {
  if (path.empty()) return {};
  return append_file(path);
}

/// What the child needs, prepared before the fork: between fork and exec nothing may allocate,
/// except `before_exec`, which only parents with one thread may use.
struct Preparation {
  std::vector<char*> argv, environment;
  FileDescriptor null, out, err;
  std::vector<InheritedFd> descriptors;  ///< sources above every target
  int out_fd = -1;
  pid_t parent = 0;
  bool own_process_group = false;
  const char* working_directory = nullptr;
  const std::function<void()>* before_exec = nullptr;
};

[[noreturn]] void become_child(Preparation& child, int report) {
  const auto fail = [report] {
    const int error = errno;
    [[maybe_unused]] const ssize_t n = ::write(report, &error, sizeof error);
    ::_exit(127);
  };
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) fail();
  // The parent died in between: no process is left to report to.
  if (::getppid() != child.parent) ::_exit(127);
  if (child.own_process_group) ::setpgid(0, 0);
  // Before any signal may come: a handler of the parent's would write to what may be the parent's memory.
  for (const int number : {SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGHUP, SIGCHLD, SIGXFSZ})
    ::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  try {
    if (*child.before_exec) (*child.before_exec)();
  } catch (const SystemError& error) {
    errno = error.error_number();
    fail();
  }
  if (child.working_directory && ::chdir(child.working_directory) != 0) fail();
  // Every descriptor but 0-2 is closed by exec unless it is put in place below.
  if (::close_range(3, ~0u, CLOSE_RANGE_CLOEXEC) != 0) fail();
  if (::dup2(child.null.get(), 0) < 0) fail();
  const int out = child.out ? child.out.get() : child.out_fd;
  if (out >= 0 && ::dup2(out, 1) < 0) fail();
  if (child.err && ::dup2(child.err.get(), 2) < 0) fail();
  if (!child.err && out >= 0 && ::dup2(out, 2) < 0) fail();
  for (const InheritedFd& inherited : child.descriptors)
    if (::dup2(inherited.fd, inherited.as) < 0) fail();
  ::execvpe(child.argv[0], child.argv.data(), child.environment.data());
  fail();
  ::_exit(127);
}

/// Copies of the inherited descriptors that no target can overwrite.
std::vector<FileDescriptor> raise_descriptors(const ChildOptions& options, int& highest) {
  highest = 2;
  for (const InheritedFd& inherited : options.descriptors) {
    if (inherited.as < 3) throw SystemError("pass a descriptor below 3 to a child", EINVAL);
    highest = std::max(highest, inherited.as);
  }
  std::vector<FileDescriptor> copies;
  for (const InheritedFd& inherited : options.descriptors)
    copies.emplace_back(check_system_call("pass a descriptor to " + options.argv[0],
                                          ::fcntl(inherited.fd, F_DUPFD_CLOEXEC, highest + 1)));
  return copies;
}

/// Its number, in the parent; or -1. Without a copy of this process's memory, which takes as long as starting a program;
/// but what the caller has to do in the child needs one. Not inline: the child uses the caller's variables.
[[gnu::noinline]] pid_t fork_child(Preparation& child, int report) {
  const pid_t pid = *child.before_exec ? ::fork() : ::vfork();
  if (pid == 0) become_child(child, report);
  return pid;
}

}  // namespace

std::optional<std::filesystem::path> find_program(const std::string& name) {
  std::vector<boost::filesystem::path> folders = boost::this_process::path();
  for (const char* folder : {"/usr/sbin", "/usr/bin", "/sbin", "/bin", "/usr/lib/frr"}) {
    folders.emplace_back(folder);
  }
  const boost::filesystem::path found = boost::process::search_path(name, folders);
  if (found.empty()) return std::nullopt;
  return std::filesystem::path(found.string());
}

std::string to_string(const ExitStatus& status) {
  if (status.signal_number == 0) return "exit code " + std::to_string(status.code);
  return "signal " + std::to_string(status.signal_number) + " (" +
         ::strsignal(status.signal_number) + ")";
}

ChildProcess ChildProcess::spawn(const ChildOptions& options) {
  if (options.argv.empty()) throw SystemError("start a process without a program", EINVAL);
  const std::string& program = options.argv[0];
  int highest = 2;
  const std::vector<FileDescriptor> copies = raise_descriptors(options, highest);
  const std::vector<std::string> environment = merged_environment(options);

  Preparation child;
  child.argv = argument_pointers(options.argv);
  child.environment = argument_pointers(environment);
  child.null = FileDescriptor::open("/dev/null", O_RDWR);
  child.out = open_output(options.stdout_file);
  child.err = open_output(options.stderr_file);
  for (size_t i = 0; i < copies.size(); ++i)
    child.descriptors.push_back({copies[i].get(), options.descriptors[i].as});
  child.parent = ::getpid();
  child.own_process_group = options.own_process_group;
  child.out_fd = options.stdout_fd;
  if (!options.working_directory.empty()) {
    child.working_directory = options.working_directory.c_str();
  }
  child.before_exec = &options.before_exec;

  int ends[2];
  check_system_call("make a pipe", ::pipe2(ends, O_CLOEXEC));
  const FileDescriptor report(ends[0]);
  FileDescriptor low_end(ends[1]);
  FileDescriptor child_report(
      check_system_call("duplicate a pipe", ::fcntl(low_end.get(), F_DUPFD_CLOEXEC, highest + 1)));
  const pid_t pid = check_system_call("fork for " + program, fork_child(child, child_report.get()));
  child_report.reset();
  low_end.reset();

  int error = 0;
  ssize_t n;
  while ((n = ::read(report.get(), &error, sizeof error)) < 0 && errno == EINTR) {
  }
  if (n != 0) {
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    throw SystemError("start " + program, n == sizeof error ? error : EIO);
  }
  return adopt(pid, program);
}

ChildProcess ChildProcess::adopt(pid_t pid, std::string name) {
  const int pidfd = pidfd_open(pid);
  if (pidfd < 0) {
    const int failure = errno;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    throw SystemError("watch " + name, failure);
  }
  return ChildProcess(pid, FileDescriptor(pidfd), std::move(name));
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      pidfd_(std::move(other.pidfd_)),
      name_(std::move(other.name_)),
      status_(other.status_),
      stopped_(other.stopped_) {}

ChildProcess::~ChildProcess() {
  if (pid_ < 0 || status_) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::optional<ExitStatus> ChildProcess::wait(std::chrono::milliseconds timeout) {
  if (status_) return status_;
  const auto until = std::chrono::steady_clock::now() + timeout;
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    pollfd watched{pidfd_.get(), POLLIN, 0};
    const int ready = ::poll(&watched, 1, std::max<int>(0, static_cast<int>(left.count())));
    if (ready == 0) return {};
    if (ready > 0) break;
    if (errno != EINTR) throw SystemError("wait for " + name_, errno);
  }
  int status = 0;
  pid_t reaped;
  while ((reaped = ::waitpid(pid_, &status, 0)) < 0 && errno == EINTR) {
  }
  check_system_call("reap " + name_, reaped);
  status_ =
      WIFSIGNALED(status) ? ExitStatus{0, WTERMSIG(status)} : ExitStatus{WEXITSTATUS(status), 0};
  return status_;
}

std::string ChildProcess::take_stops() {
  bool stopped = false, continued = false;
  while (!status_) {
    siginfo_t news{};
    const int result =
        ::waitid(P_PID, static_cast<id_t>(pid_), &news, WSTOPPED | WCONTINUED | WNOHANG);
    if (result != 0 || news.si_pid == 0) break;
    // The kernel keeps the last report alone: "continued" without "stopped" before means a stop in between.
    continued = news.si_code == CLD_CONTINUED;
    stopped |= !continued || !stopped_;
    stopped_ = !continued;
  }
  if (!stopped) return continued ? "runs again" : "";
  return continued ? "was stopped and runs again" : "was stopped";
}

void ChildProcess::signal(int number) {
  if (!status_) ::kill(pid_, number);  // not reaped yet: the pid is still its own
}

bool ChildProcess::ended() const {
  pollfd watched{pidfd_.get(), POLLIN, 0};
  return status_ || ::poll(&watched, 1, 0) > 0;
}

void ChildProcess::signal_group(int number) {
  if (!status_) ::kill(-pid_, number);
}

ExitStatus ChildProcess::stop(std::chrono::milliseconds grace) {
  if (const auto ended = wait(std::chrono::milliseconds(0))) return *ended;
  signal(SIGTERM);
  signal(SIGCONT);
  if (const auto ended = wait(grace)) return *ended;
  signal(SIGKILL);
  while (true)
    if (const auto ended = wait(std::chrono::hours(1))) return *ended;
}

}  // namespace mrclab::netio
