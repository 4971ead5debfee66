#include "tests/verbs/held/program_runs.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>

#include "netio/system/tsc_fault.h"

namespace mrclab::test {
namespace {

/// A child that does not outlive this process.
pid_t fork_bound() {
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork");
  if (child == 0) prctl(PR_SET_PDEATHSIG, SIGKILL);
  return child;
}

void write_text(const char* path, const std::string& text) {
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0 || write(fd, text.data(), text.size()) < 0) _exit(99);
  close(fd);
}

/// The loopback with 10.255.0.1/16: there, all addresses of a prefix are local.
bool set_up_loopback() {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  bool good = ioctl(fd, SIOCSIFFLAGS, &request) == 0;
  std::strcpy(request.ifr_name, "lo:1");
  auto* const address = reinterpret_cast<sockaddr_in*>(&request.ifr_addr);
  *address = {};
  address->sin_family = AF_INET;
  inet_pton(AF_INET, "10.255.0.1", &address->sin_addr);
  good = good && ioctl(fd, SIOCSIFADDR, &request) == 0;
  inet_pton(AF_INET, "255.255.0.0", &address->sin_addr);
  good = good && ioctl(fd, SIOCSIFNETMASK, &request) == 0;
  close(fd);
  return good;
}

std::string contents(int fd) {
  std::string text(static_cast<size_t>(lseek(fd, 0, SEEK_END)), '\0');
  const ssize_t size = pread(fd, text.data(), text.size(), 0);
  text.resize(size < 0 ? 0 : static_cast<size_t>(size));
  close(fd);
  return text;
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (const std::string& one : strings) result.push_back(const_cast<char*>(one.c_str()));
  result.push_back(nullptr);
  return result;
}

}  // namespace

ManagementNamespace::ManagementNamespace() {
  int ready[2];
  if (pipe2(ready, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
  const bool root = geteuid() == 0;
  const std::string map = "0 " + std::to_string(geteuid()) + " 1";
  keeper_ = fork_bound();
  if (keeper_ == 0) {
    if (unshare(CLONE_NEWNET | (root ? 0 : CLONE_NEWUSER)) != 0) _exit(98);
    if (!root) write_text("/proc/self/uid_map", map);
    if (!set_up_loopback() || write(ready[1], "x", 1) != 1) _exit(97);
    for (;;) pause();
  }
  close(ready[1]);
  char byte;
  const bool good = read(ready[0], &byte, 1) == 1;
  close(ready[0]);
  if (!good) throw std::runtime_error("no network namespace for the test");
}

ManagementNamespace::~ManagementNamespace() {
  kill(keeper_, SIGKILL);
  waitpid(keeper_, nullptr, 0);
}

void ManagementNamespace::enter() const {
  for (const char* const kind : {"user", "net"}) {
    if (geteuid() == 0 && std::strcmp(kind, "user") == 0) continue;
    const std::string path = "/proc/" + std::to_string(keeper_) + "/ns/" + kind;
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0 || setns(fd, 0) != 0) _exit(96);
    close(fd);
  }
}

Load::Load() {
  for (int i = 0; i < 2; ++i) {
    const pid_t child = fork_bound();
    if (child == 0)
      for (volatile unsigned n = 0;;) {
        n = n + 1;
      }
    processes_.push_back(child);
  }
}

Load::~Load() {
  for (const pid_t process : processes_) {
    kill(process, SIGKILL);
    waitpid(process, nullptr, 0);
  }
}

std::string built(const std::string& name) {
  const std::string folder = name.ends_with(".so") ? "/rdma/" : "/tests/verbs/held/";
  return MRCLAB_BINARY_DIR + folder + name;
}

bool replaces_reads() {
#ifdef MRCLAB_HELD_DECODER
  return true;
#else
  return false;
#endif
}

bool clocks_are_held() { return netio::tsc_reads_fault() || replaces_reads(); }

ProgramRun run_programs(const std::vector<std::vector<std::string>>& commands,
                        const RunOptions& options) {
  std::vector<uint32_t> hosts;
  for (uint32_t i = 0; i < commands.size(); ++i) hosts.push_back(i);
  const ManagementNamespace network;
  ReferenceServer server(hosts);
  if (options.count_every_ps > 0) server.count_in_memory(options.count_every_ps);
  server.fail_from(options.fault_from, options.fault);
  std::vector<pid_t> children;
  std::vector<int> outputs, errors;
  for (size_t i = 0; i < commands.size(); ++i) {
    outputs.push_back(memfd_create("stdout", MFD_CLOEXEC));
    errors.push_back(memfd_create("stderr", MFD_CLOEXEC));
    std::vector<std::string> environment = {"PATH=/usr/bin:/bin",
                                            "LD_PRELOAD=" + built("libmrclab-held.so"),
                                            "MRCLAB_VERBS=" + server.path(i)};
    if (!options.declared.empty()) environment.push_back("MRCLAB_PROGRAM=" + options.declared);
    environment.insert(environment.end(), options.environment.begin(), options.environment.end());
    const std::vector<char*> arguments = pointers(commands[i]), variables = pointers(environment);
    const pid_t child = fork_bound();
    if (child == 0) {
      network.enter();
      personality(ADDR_NO_RANDOMIZE);
      dup2(outputs[i], 1);
      dup2(errors[i], 2);
      execve(arguments[0], arguments.data(), variables.data());
      _exit(95);
    }
    children.push_back(child);
  }
  ProgramRun run;
  run.served = server.run(options.patience_ms);
  run.why = server.why();
  run.history = server.history();
  run.not_held = server.not_held();
  run.requests = server.requests();
  for (size_t i = 0; i < children.size(); ++i) {
    if (!run.served && options.fault == ReferenceServer::Fault::kNone) kill(children[i], SIGKILL);
    int status = 0;
    waitpid(children[i], &status, 0);
    run.codes.push_back(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
    run.outputs.push_back(contents(outputs[i]));
    run.errors.push_back(contents(errors[i]));
  }
  return run;
}

}  // namespace mrclab::test
