#include "lab/verbs/labs/metrics_exporter.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>

#include "fabric/text/input_error.h"
#include "lab/front/command_path.h"
#include "live/bringup/bring_up.h"
#include "netio/system/file_descriptor.h"
#include "netio/system/system_error.h"

namespace mrclab::lab {
namespace {

/// In the child: nothing here may throw or allocate.
[[noreturn]] void become_exporter(const char* log, int link, char* const* words) {
  ::setsid();
  const int in = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int out = ::open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (in >= 0 && out >= 0 && ::dup2(in, 0) == 0 && ::dup2(link, 1) == 1 && ::dup2(out, 2) == 2) {
    ::execv(words[0], words);
  }
  ::_exit(127);
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
  std::vector<std::string> words{command_path().string(), "metrics", lab, "--port",
                                 std::to_string(port)};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::array<int, 2> ends{};
  netio::check_system_call("make a pipe", ::pipe2(ends.data(), O_CLOEXEC));
  const netio::FileDescriptor read_end(ends[0]);
  netio::FileDescriptor write_end(ends[1]);
  const pid_t pid = netio::check_system_call("fork", ::fork());
  if (pid == 0) become_exporter(log.c_str(), ends[1], argv.data());
  write_end = {};
  const std::string link = first_line(read_end.get());
  if (link.empty()) {
    throw InputError("--metrics: the exporter ended: " + netio::read_file(log));
  }
  return link;
}

}  // namespace mrclab::lab
