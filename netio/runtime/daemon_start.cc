#include "netio/runtime/daemon_start.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "netio/system/forked_process.h"
#include "netio/system/output_folder.h"
#include "netio/system/system_error.h"

namespace mrclab::netio {
namespace {

/// Where the program writes pids; above the gate page's descriptor.
constexpr int kPidsFd = 4;

/// The kernel shows the memory in which a process's arguments lie; `ps` shows no zeros at its end.
void show_one_argument(std::span<char*> argv, const std::string& word) {
  char* const begin = argv[1];
  char* const end = argv.back() + std::strlen(argv.back()) + 1;
  std::fill(begin, end, '\0');
  std::copy(word.begin(), word.end(), begin);  // it was one of them, so there is room
}

DaemonConfig become_daemon(std::span<char*> argv, const std::string& file) {
  ::close(kPidsFd);
  show_one_argument(argv, file);
  DaemonConfig config = read_daemon_config(file);
  const FileDescriptor output = append_file(config.output_file);
  for (const int standard : {1, 2}) {
    check_system_call("print to " + config.output_file.string(), ::dup2(output.get(), standard));
  }
  return config;
}

/// Both ends of a pipe: reading, writing.
std::pair<FileDescriptor, FileDescriptor> make_pipe() {
  int ends[2];
  check_system_call("make a pipe", ::pipe2(ends, O_CLOEXEC));
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

}  // namespace

std::optional<DaemonConfig> fork_for_each(std::span<char*> argv) {
  for (size_t i = 1; i < argv.size(); ++i) {
    const pid_t pid = fork_sibling();
    if (pid == 0) return become_daemon(argv, argv[i]);
    // At most PIPE_BUF bytes are written as a whole.
    check_system_call("report a daemon", ::write(kPidsFd, &pid, sizeof pid));
  }
  return std::nullopt;
}

DaemonStart::DaemonStart(ChildOptions options)
    : program_([&] {
        auto [reading, writing] = make_pipe();
        pids_ = std::move(reading);
        options.descriptors.push_back({writing.get(), kPidsFd});
        return ChildProcess::spawn(options);
      }()) {}

DaemonStart::~DaemonStart() {
  if (!pids_) return;  // moved from
  program_.signal(SIGKILL);
  try {
    take(std::chrono::steady_clock::now());
  } catch (const SystemError&) {
    // A daemon that is not found ends with this process.
  }
}

std::vector<std::unique_ptr<ChildProcess>> DaemonStart::take(
    std::chrono::steady_clock::time_point deadline) {
  std::vector<std::unique_ptr<ChildProcess>> daemons;
  const auto left_ms = [deadline] {
    const auto left = deadline - std::chrono::steady_clock::now();
    return std::max<int64_t>(0, std::chrono::ceil<std::chrono::milliseconds>(left).count());
  };
  for (pollfd watched{pids_.get(), POLLIN, 0};;) {
    const int ready = ::poll(&watched, 1, static_cast<int>(left_ms()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) break;
    pid_t pid = 0;
    if (::read(pids_.get(), &pid, sizeof pid) != sizeof pid) break;  // the program has ended
    daemons.push_back(std::make_unique<ChildProcess>(ChildProcess::adopt(pid, program_.name())));
  }
  program_.wait(std::chrono::milliseconds(left_ms()));
  return daemons;
}

}  // namespace mrclab::netio
