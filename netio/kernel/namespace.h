#pragma once
// Named network namespaces, visible to `ip netns` because they are bind mounts in /run/netns.
//
// Threading: unshare and setns act on the calling thread, which is back in its own namespace when a
// call returns. Tear-down: the devices of a namespace go with it; never delete veths one by one
// (13-28 ms each, an rcu_barrier; a whole fabric goes in 60 ms with its namespaces).

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "netio/system/file_descriptor.h"

namespace mrclab::netio {

inline constexpr std::string_view kNamespaceDirectory = "/run/netns";

/// A line for /proc/sys: {"net/ipv6/conf/default/disable_ipv6", "1"}.
struct Sysctl {
  std::string path;
  std::string value;
};
using Sysctls = std::vector<Sysctl>;

/// For the namespaces of our own switches: the kernel must neither process nor answer what the
/// daemon reads, and must send nothing of its own.
Sysctls switch_sysctls();
/// For hosts: IPv6 for ordinary traffic, no address generation, no DAD, no router discovery.
Sysctls host_sysctls();
/// For switches that forward in the kernel (seg6local): as hosts, and forwarding.
Sysctls forwarding_sysctls();

/// A network namespace. The descriptor keeps it alive; an owned one also loses its name in
/// /run/netns when this object dies.
class NetworkNamespace {
 public:
  /// Creates /run/netns/<name>, with `sysctls` written before any device exists and loopback up
  /// when asked for. Throws SystemError with EEXIST when the name is taken. Owned.
  /// `about_to_have_name` is called with cookie() before the name is there, to record whose it will be.
  static NetworkNamespace create(const std::string& name, const Sysctls& sysctls,
                                 bool loopback_up = false,
                                 const std::function<void(uint64_t)>& about_to_have_name = {});
  /// Opens an existing namespace by name. Not owned.
  static NetworkNamespace open(const std::string& name);
  /// The namespace behind an inherited descriptor. Not owned.
  static NetworkNamespace from_descriptor(FileDescriptor fd, std::string name);
  /// The namespace that the calling thread is in. Not owned.
  static NetworkNamespace current();

  /// The same namespace by one more name, /run/netns/<name>. Throws SystemError with EEXIST when it is
  /// taken. Owned: the namespace itself stays until it has no name and no descriptor any more.
  NetworkNamespace with_name(const std::string& name,
                             const std::function<void(uint64_t)>& about_to_have_name = {}) const;

  NetworkNamespace(NetworkNamespace&& other) noexcept;
  NetworkNamespace& operator=(NetworkNamespace&& other) noexcept;
  ~NetworkNamespace();

  const std::string& name() const { return name_; }
  int fd() const { return fd_.get(); }
  /// Identity: equal inodes are the same namespace.
  ino_t inode() const;
  /// The kernel's own number of it (SO_NETNS_COOKIE, Linux 5.14), which no other namespace has until the machine
  /// boots again; an inode's number is used again soon.
  uint64_t cookie() const;

  /// The calling thread is in it from now on; for a child that is about to become another program.
  void enter() const;
  /// Calls `fn` inside and comes back, also when it throws. Returns what it returns.
  template <class Fn>
  auto run_in(Fn&& fn) const {
    const Visit visit(*this);
    return fn();
  }

 private:
  class Visit {
   public:
    explicit Visit(const NetworkNamespace& target);
    ~Visit();
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;

   private:
    FileDescriptor home_;
  };

  NetworkNamespace(std::string name, FileDescriptor fd, bool owned)
      : name_(std::move(name)), fd_(std::move(fd)), owned_(owned) {}

  std::string name_;
  FileDescriptor fd_;
  bool owned_ = false;
};

/// The calling process is in new network, mount and hostname namespaces from now on, and no mount that it
/// makes is seen outside. Throws SystemError.
void enter_private_namespaces();
/// The calling process sees an empty folder in place of `folder`, and nothing that it writes there is seen
/// outside or stays. Throws SystemError.
void hide_folder(const std::string& folder);

/// Names in /run/netns that start with `prefix`, sorted.
std::vector<std::string> list_namespaces(std::string_view prefix);
/// Unmounts and unlinks /run/netns/<name>. Also repairs half-made ones (a file without a mount).
/// False if there was none.
bool remove_namespace(const std::string& name);
/// The cookie() of the namespace that has this name; 0 for a name without one (a file whose mount never
/// happened, or was undone); empty if there is no such name, or it is something else.
std::optional<uint64_t> cookie_of_name(const std::string& name);

}  // namespace mrclab::netio
