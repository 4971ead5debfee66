#include "lab/verbs/labs/metrics_exporter.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <unistd.h>

#include <array>
#include <vector>

#include "fabric/text/input_error.h"
#include "lab/front/command_path.h"
#include "live/bringup/bring_up.h"
#include "netio/system/file_descriptor.h"
#include "netio/system/system_error.h"

namespace mrclab::lab {
namespace {

/// A process that nobody waits for, in a session of its own, with these as what it prints and what it logs.
void start(std::vector<std::string> words, int out, const std::string& log) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out, 1);
  ::posix_spawn_file_actions_addopen(&actions, 2, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, argv[0], &actions, &attributes, argv.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw netio::SystemError("start " + words[0], error);
}

/// The line that it prints once it listens; empty if it ends without one.
std::string first_line(int fd) {
  constexpr int kPatienceMs = 10'000;
  std::string line;
  std::array<char, 256> bytes;
  while (line.find('\n') == std::string::npos) {
    pollfd waits{fd, POLLIN, 0};
    if (::poll(&waits, 1, kPatienceMs) <= 0) return {};
    const ssize_t got = ::read(fd, bytes.data(), bytes.size());
    if (got <= 0) return {};
    line.append(bytes.data(), static_cast<size_t>(got));
  }
  return line.substr(0, line.find('\n'));
}

}  // namespace

std::string start_metrics_exporter(const std::string& lab, uint16_t port) {
  const std::string log = (LabPaths{}.lab_directory(lab) / "metrics.log").string();
  std::array<int, 2> ends{};
  netio::check_system_call("make a pipe", ::pipe2(ends.data(), O_CLOEXEC));
  const netio::FileDescriptor read_end(ends[0]);
  netio::FileDescriptor write_end(ends[1]);
  start({command_path().string(), "metrics", lab, "--port", std::to_string(port)}, ends[1], log);
  write_end = {};
  const std::string link = first_line(read_end.get());
  if (link.empty()) {
    throw InputError("--metrics: the exporter ended: " + netio::read_file(log));
  }
  return link;
}

}  // namespace mrclab::lab
