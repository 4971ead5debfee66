#include "live/bringup/process_scan.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string_view>

#include "netio/system/file_descriptor.h"

namespace mrclab::lab {
namespace {

using netio::FileDescriptor;

constexpr std::array<std::string_view, 3> kOurDaemons = {"mrc-switchd", "mrc-endpointd",
                                                         "mrc-bgpd"};
/// A process in an uninterruptible wait ends late (a daemon's rings close one after the other, 12-24
/// ms each); longer than this is worth a message.
constexpr std::chrono::milliseconds kKillPatience{15000};
constexpr size_t kMaxEnvironment = 1 << 20;

std::vector<pid_t> all_processes() {
  std::vector<pid_t> pids;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir("/proc"), ::closedir);
  if (!directory) return pids;
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string_view name(entry->d_name);
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error == std::errc{} && end == name.data() + name.size()) pids.push_back(pid);
  }
  return pids;
}

/// The file name of a process's program; a rebuilt program's old file reads "... (deleted)".
std::string program_of(pid_t pid) {
  std::array<char, 4096> target{};
  const std::string link = "/proc/" + std::to_string(pid) + "/exe";
  const ssize_t length = ::readlink(link.c_str(), target.data(), target.size() - 1);
  if (length <= 0) return {};
  std::string path(target.data(), static_cast<size_t>(length));
  constexpr std::string_view kDeleted = " (deleted)";
  if (path.ends_with(kDeleted)) path.resize(path.size() - kDeleted.size());
  return std::filesystem::path(path).filename();
}

/// The programs of verbs are called mrclab-run and the like.
bool is_ours(std::string_view program) {
  return program.starts_with("mrclab-") ||
         std::find(kOurDaemons.begin(), kOurDaemons.end(), program) != kOurDaemons.end();
}

bool has_variable(pid_t pid, const std::string& variable) {
  if (variable.empty()) return false;
  std::ifstream in("/proc/" + std::to_string(pid) + "/environ", std::ios::binary);
  size_t seen = 0;
  for (std::string entry; seen < kMaxEnvironment && std::getline(in, entry, '\0');) {
    if (entry == variable) return true;
    seen += entry.size() + 1;
  }
  return false;
}

bool lives_in(pid_t pid, const std::set<ino_t>& namespaces) {
  struct stat info {};
  const std::string link = "/proc/" + std::to_string(pid) + "/ns/net";
  return ::stat(link.c_str(), &info) == 0 && namespaces.contains(info.st_ino);
}

/// True if the process behind `pidfd` ended within `patience`.
bool ended_within(const FileDescriptor& pidfd, std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd item{pidfd.get(), POLLIN, 0};
    const int ready = ::poll(&item, 1, static_cast<int>(std::max<int64_t>(left.count(), 0)));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

void send(const FileDescriptor& pidfd, int number) {
  ::syscall(SYS_pidfd_send_signal, pidfd.get(), number, nullptr, 0);
}

}  // namespace

std::vector<ProcessMark> find_processes(const LabProcesses& lab) {
  std::vector<ProcessMark> found;
  for (const ProcessMark& mark : lab.recorded) {
    if (mark.pid != ::getpid() && is_running(mark)) found.push_back(mark);
  }
  for (const pid_t pid : all_processes()) {
    if (pid == ::getpid()) continue;
    const std::string program = program_of(pid);
    const bool inside = lives_in(pid, lab.namespaces);
    if (!has_variable(pid, lab.instance_variable) && !(inside && is_ours(program))) continue;
    const ProcessMark mark = mark_of(pid, program);
    const auto same = [&](const ProcessMark& other) { return other.pid == pid; };
    if (mark.start_time != 0 && std::none_of(found.begin(), found.end(), same)) {
      found.push_back(mark);
    }
  }
  return found;
}

bool end_process(const ProcessMark& mark, std::chrono::milliseconds grace, std::string& problem) {
  const FileDescriptor pidfd(static_cast<int>(::syscall(SYS_pidfd_open, mark.pid, 0)));
  // The descriptor first, then the check: now the pid cannot become another process.
  if (!pidfd || !is_running(mark)) return false;
  if (grace.count() > 0) {
    send(pidfd, SIGTERM);
    if (ended_within(pidfd, grace)) return true;
  }
  send(pidfd, SIGKILL);
  if (ended_within(pidfd, kKillPatience)) return true;
  problem = "process " + std::to_string(mark.pid) + " (" + mark.program +
            ") does not end: it waits in the kernel";
  return false;
}

}  // namespace mrclab::lab
