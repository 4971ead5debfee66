#include "netio/system/tsc_fault.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace mrclab::netio {

bool tsc_reads_fault() {
#if defined(PR_SET_TSC) && defined(__x86_64__)
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);  // no core file of the fault
    std::signal(SIGSEGV, SIG_DFL);
    if (::prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) == 0) __builtin_ia32_rdtsc();
    ::_exit(0);
  }
  int status = 0;
  return child > 0 && ::waitpid(child, &status, 0) == child && WIFSIGNALED(status) &&
         WTERMSIG(status) == SIGSEGV;
#else
  return false;
#endif
}

}  // namespace mrclab::netio
