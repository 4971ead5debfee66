#include "netio/kernel/sysctl_watch.h"

#include <fcntl.h>
#include <sys/inotify.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <set>

#include "netio/system/system_error.h"

namespace mrclab::netio {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRoot = "/proc/sys/";
constexpr const char* kDevices = "net/ipv6/conf";
/// Beside these the folders of all devices in kDevices.
constexpr std::array kFolders = {"net/ipv6", "net/ipv6/route", "net/ipv6/icmp", "net/core",
                                 "net/ipv4"};
/// What decides for a device whether packets pass.
constexpr std::array kOfDevices = {"forwarding", "disable_ipv6", "seg6_enabled"};

std::string dotted(std::string path) {
  std::replace(path.begin(), path.end(), '/', '.');
  return path;
}

std::vector<std::string> device_names() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(std::string(kRoot) + kDevices, ignored)) {
    names.push_back(entry.path().filename());
  }
  return names;
}

}  // namespace

SysctlWatch::SysctlWatch()
    : inotify_(check_system_call("watch sysctls", ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC))) {}

std::string SysctlWatch::read_value(const std::string& path) {
  const FileDescriptor file(::open((kRoot + path).c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 256> text;
  const ssize_t size = file ? ::read(file.get(), text.data(), text.size()) : 0;
  std::string value(text.data(), static_cast<size_t>(std::max<ssize_t>(size, 0)));
  while (!value.empty() && value.back() == '\n') value.pop_back();
  return value;
}

void SysctlWatch::read_values(Watched& watched) {
  watched.ns->run_in([&] {
    for (auto& [path, value] : watched.values) value = read_value(path);
  });
}

void SysctlWatch::watch_namespace(const NetworkNamespace& ns, const Sysctls& expected) {
  const size_t number = watched_.size();
  watched_.push_back({&ns, {}});
  watch_folders(number);
  Watched& watched = watched_.back();
  ns.run_in([&] {
    for (const std::string& device : device_names()) {
      for (const char* name : kOfDevices) {
        const std::string path = std::string(kDevices) + "/" + device + "/" + name;
        watched.values[path] = read_value(path);
      }
    }
  });
  for (const Sysctl& sysctl : expected) watched.values[sysctl.path] = sysctl.value;
  compare(number);
}

void SysctlWatch::watch_folders(size_t number) {
  watched_[number].ns->run_in([&] {
    std::vector<std::string> paths(kFolders.begin(), kFolders.end());
    for (const std::string& device : device_names()) {
      paths.push_back(std::string(kDevices) + "/" + device);
    }
    for (const std::string& path : paths) {
      if (folders_.size() >= kMaxFolders) return;
      FileDescriptor held(::open((kRoot + path).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
      // inotify takes a path, which must mean the folder that is held.
      const std::string here = "/proc/self/fd/" + std::to_string(held.get());
      const int watch = held ? ::inotify_add_watch(inotify_.get(), here.c_str(), IN_MODIFY) : -1;
      if (watch >= 0) folders_[watch] = {number, path, std::move(held)};
    }
  });
}

void SysctlWatch::compare(size_t number) {
  Watched& watched = watched_.at(number);
  const std::map<std::string, std::string> before = watched.values;
  read_values(watched);
  for (const auto& [path, value] : watched.values) {
    // That of a device that is gone is missing, which is reported as a change of links.
    if (!value.empty() && value != before.at(path))
      differing_.push_back({number, dotted(path), value});
  }
}

std::vector<SysctlChange> SysctlWatch::take_changes() {
  std::vector<SysctlChange> changes = std::exchange(differing_, {});
  std::set<std::pair<size_t, std::string>> written;  // number, path
  alignas(inotify_event) std::array<char, 16 << 10> buffer;
  ssize_t size = 0;
  while ((size = ::read(inotify_.get(), buffer.data(), buffer.size())) > 0) {
    for (const char* at = buffer.data(); at < buffer.data() + size;) {
      const auto* event = reinterpret_cast<const inotify_event*>(at);
      at += sizeof(inotify_event) + event->len;
      overrun_ |= (event->mask & IN_Q_OVERFLOW) != 0;
      const auto folder = folders_.find(event->wd);
      if (folder == folders_.end() || event->len == 0) continue;
      written.emplace(folder->second.number, folder->second.path + "/" + event->name);
    }
  }
  std::set<size_t> numbers;
  for (const auto& write : written) {
    const size_t number = write.first;
    changes.push_back({number, dotted(write.second),
                       watched_[number].ns->run_in([&] { return read_value(write.second); })});
    numbers.insert(number);
  }
  // One write may change several values: conf.all.forwarding those of all devices.
  for (const size_t number : numbers) read_values(watched_[number]);
  return changes;
}

}  // namespace mrclab::netio
