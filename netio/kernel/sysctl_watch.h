#pragma once
// Notices that somebody writes a sysctl of a network namespace. The kernel sends no netlink message for that, but a
// write to a file below /proc/sys/net is reported by inotify, for all files of the folders that matter to IPv6 traffic.
//
// A write through another procfs (that of a container with processes of its own) is not reported there. So the values
// that decide whether and where packets go are also compared from time to time: compare().

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "netio/kernel/namespace.h"
#include "netio/system/file_descriptor.h"

namespace mrclab::netio {

struct SysctlChange {
  size_t number = 0;  ///< of the namespace
  std::string name;   ///< "net.ipv6.conf.all.forwarding"
  std::string value;  ///< now; empty if it cannot be read any more
};

class SysctlWatch {
 public:
  /// The most folders that are watched, each by a descriptor: those of some 600 nodes. The sysctls of further
  /// namespaces are only compared.
  static constexpr size_t kMaxFolders = 8192;
  SysctlWatch();

  /// Begins to watch a namespace, which outlives this; its number is how many were added before. `expected` were set
  /// when it was made; what differs by now is reported by the next take_changes().
  void watch_namespace(const NetworkNamespace& ns, const Sysctls& expected);
  size_t size() const { return watched_.size(); }
  /// Writes since the last call, without blocking: one system call when there were none. A value that was written
  /// again as it was is a write, too.
  std::vector<SysctlChange> take_changes();
  /// Has the kernel lost reports, as its buffer was full, since the last call? compare() finds the changes that matter.
  bool take_overrun() { return std::exchange(overrun_, false); }
  /// Reads the values that matter once more; the next take_changes() reports what differs from the last time.
  void compare(size_t number);

 private:
  struct Watched {
    const NetworkNamespace* ns;
    std::map<std::string, std::string> values;  ///< by path below /proc/sys, as last read
  };
  void watch_folders(size_t number);
  /// Reads `path` below /proc/sys in the calling thread's namespace; empty if it is not there.
  static std::string read_value(const std::string& path);
  void read_values(Watched& watched);

  struct Folder {
    size_t number;
    std::string path;     ///< below /proc/sys
    FileDescriptor held;  ///< or the kernel may forget the folder, and the watch with it
  };
  FileDescriptor inotify_;
  std::vector<Watched> watched_;
  std::map<int, Folder> folders_;  ///< by inotify's number
  std::vector<SysctlChange> differing_;
  bool overrun_ = false;
};

}  // namespace mrclab::netio
