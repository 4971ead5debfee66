#include "tests/verbs/jobs/job.h"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

namespace mrclab::test {

Job::Job(std::vector<std::string> command, const std::vector<std::string>& environment) {
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::vector<std::string> added = environment;
  output_ = ::memfd_create("output", MFD_CLOEXEC);
  const pid_t parent = ::getpid();
  process_ = ::fork();
  if (process_ < 0 || output_ < 0) throw std::runtime_error("cannot start " + command.front());
  if (process_ > 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  for (std::string& entry : added) ::putenv(entry.data());
  ::dup2(output_, STDOUT_FILENO);
  ::dup2(output_, STDERR_FILENO);
  ::execv(arguments[0], arguments.data());
  ::_exit(127);
}

Job::~Job() {
  kill();
  if (output_ >= 0) ::close(output_);
}

void Job::kill() {
  if (process_ <= 0) return;
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
  process_ = -1;
}

int Job::wait(int seconds) {
  const auto descriptor = static_cast<int>(::syscall(SYS_pidfd_open, process_, 0));
  pollfd end{descriptor, POLLIN, 0};
  const int ended = ::poll(&end, 1, seconds * 1000);
  ::close(descriptor);
  if (ended != 1) {
    kill();
    return -1;
  }
  int status = 0;
  ::waitpid(process_, &status, 0);
  process_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string Job::output() const {
  std::string text(64 * 1024, 0);
  const ssize_t n = ::pread(output_, text.data(), text.size(), 0);
  text.resize(n > 0 ? static_cast<size_t>(n) : 0);
  return text;
}

}  // namespace mrclab::test
