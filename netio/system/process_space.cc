#include "netio/system/process_space.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "netio/system/system_error.h"

namespace mrclab::netio {
namespace {

/// Waits for all children until `child` has ended, and ends as it did.
[[noreturn]] void end_with(pid_t child) {
  ::signal(SIGTERM, SIG_IGN);
  ::close_range(0, ~0u, 0);
  while (true) {
    int status = 0;
    const pid_t ended = ::waitpid(-1, &status, 0);
    if (ended < 0 && errno != EINTR) ::_exit(127);
    if (ended != child) continue;
    ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  }
}

/// A copy that dies with this process. Returns in the copy.
void go_on_in_copy() {
  const pid_t child = check_system_call("fork", ::fork());
  if (child > 0) end_with(child);
  check_system_call("die with the parent", ::prctl(PR_SET_PDEATHSIG, SIGKILL));
}

}  // namespace

void enter_process_space() {
  check_system_call("make a process space", ::unshare(CLONE_NEWPID));
  go_on_in_copy();  // process 1: with it the kernel ends all others
  // Process 1 gets no signal that it has no handler for, so the program is another one.
  go_on_in_copy();
}

}  // namespace mrclab::netio
