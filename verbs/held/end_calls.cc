// Calls by which a program ends at once: it tells its host, which would otherwise take it for ended from outside.

#include <signal.h>
#include <unistd.h>

#include <cstdlib>

#include "verbs/held/children.h"
#include "verbs/held/entry.h"
#include "verbs/held/next.h"
#include "verbs/held/program.h"
#include "verbs/held/raw.h"

namespace mrclab::verbs::held {

void tell_if_ending(int number) {
  if (number <= 0) return;
  if (number != SIGKILL) {
    for (const int harmless :
         {SIGCHLD, SIGCONT, SIGURG, SIGWINCH, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU}) {
      if (number == harmless) return;
    }
    struct sigaction kept {};
    sigset_t blocked;
    if (sigaction(number, nullptr, &kept) != 0 || kept.sa_handler != SIG_DFL) return;
    if (pthread_sigmask(SIG_BLOCK, nullptr, &blocked) != 0 || sigismember(&blocked, number) != 0)
      return;
  }
  tell_end();
}

}  // namespace mrclab::verbs::held

using namespace mrclab::verbs::held;

MRCLAB_EXPORT void _exit(int status) {
  const Entry entry;
  if (!is_borrowed()) tell_end();
  raw(SYS_exit_group, status);
  __builtin_unreachable();
}

MRCLAB_EXPORT int raise(int number) noexcept {
  const Entry entry;
  MRCLAB_NEXT(raise);
  if (!is_borrowed()) tell_if_ending(number);
  return real(number);
}

MRCLAB_EXPORT void _Exit(int status) noexcept { _exit(status); }
