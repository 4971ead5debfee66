#include "netio/system/forked_process.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "netio/system/system_error.h"

namespace mrclab::netio {
namespace {

struct DetachedProgram {
  const std::vector<char*>& argv;
  int report, report_as, null;
  const std::string& if_not_started;
};

/// In the grandchild, between vfork and exec: only calls that are safe there.
[[noreturn]] void become_program(const DetachedProgram& program) {
  for (const int standard : {0, 1, 2}) ::dup2(program.null, standard);
  if (program.report == program.report_as) {
    ::fcntl(program.report, F_SETFD, 0);
  } else {
    ::dup2(program.report, program.report_as);
  }
  ::close_range(static_cast<unsigned>(program.report_as) + 1, ~0u, 0);
  ::chdir("/");
  ::execv(program.argv[0], program.argv.data());
  const std::string& message = program.if_not_started;
  if (::write(program.report_as, message.data(), message.size()) < 0) ::_exit(126);
  ::_exit(127);
}

int wait_for_end(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

std::optional<std::string> try_in_child(const std::function<void()>& attempt) {
  std::array<int, 2> ends{};
  check_system_call("make a pipe", ::pipe(ends.data()));
  const FileDescriptor read_end(ends[0]);
  FileDescriptor write_end(ends[1]);
  const pid_t child = check_system_call("fork", ::fork());
  if (child == 0) {
    int code = 0;
    try {
      attempt();
    } catch (const std::exception& error) {
      const std::string text = error.what();
      code = ::write(write_end.get(), text.data(), text.size()) < 0 ? 2 : 1;
    }
    ::_exit(code);
  }
  write_end.reset();
  std::array<char, 1024> text{};
  const ssize_t length = ::read(read_end.get(), text.data(), text.size());
  const int status = wait_for_end(child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return std::nullopt;
  if (length > 0) return std::string(text.data(), static_cast<size_t>(length));
  return "the attempt ended by signal " + std::to_string(WTERMSIG(status));
}

pid_t fork_worker(const std::function<void()>& work) {
  const pid_t parent = ::getpid();
  const pid_t child = check_system_call("fork", ::fork());
  if (child > 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  for (const int number : {SIGINT, SIGHUP, SIGTERM}) ::signal(number, SIG_IGN);
  work();
  ::_exit(0);
}

pid_t fork_sibling() {
  const pid_t parent = ::getppid();
  clone_args how{};
  how.flags = CLONE_PARENT;
  // The C library keeps the thread's number where its fork() has the kernel write the copy's.
  int* number = nullptr;
  if (::prctl(PR_GET_TID_ADDRESS, &number, 0, 0, 0) == 0 && number != nullptr) {
    how.flags |= CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
    how.child_tid = reinterpret_cast<uintptr_t>(number);
  }
  const auto sibling =
      static_cast<pid_t>(check_system_call("fork", ::syscall(SYS_clone3, &how, sizeof how)));
  if (sibling > 0) return sibling;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  ::setpgid(0, 0);
  return 0;
}

void start_detached(std::vector<std::string> argv, const FileDescriptor& report, int report_as,
                    const std::string& if_not_started) {
  const FileDescriptor null = FileDescriptor::open("/dev/null", O_RDWR);
  std::vector<char*> pointers;
  pointers.reserve(argv.size() + 1);
  for (std::string& word : argv) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const DetachedProgram program{pointers, report.get(), report_as, null.get(), if_not_started};
  // Forked twice: the grandchild has no parent that could take it along. Both use this process's memory, which they
  // leave as it is, until the program starts: copying it takes longer.
  const pid_t child = check_system_call("fork", ::vfork());
  if (child == 0) {
    ::setsid();
    const pid_t grandchild = ::vfork();
    if (grandchild == 0) become_program(program);
    ::_exit(grandchild < 0 ? 1 : 0);
  }
  if (wait_for_end(child) != 0) throw SystemError("start " + argv.front(), EAGAIN);
}

}  // namespace mrclab::netio
