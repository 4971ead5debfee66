#include "netio/kernel/namespace.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>

namespace mrclab::netio {
namespace {

// The thread's own, not /proc/self: setns moves one thread only.
constexpr const char* kOwnNamespace = "/proc/thread-self/ns/net";
constexpr long kNamespaceFileSystem = 0x6e736673;  // NSFS_MAGIC of linux/magic.h

std::string path_of(const std::string& name) {
  return std::string(kNamespaceDirectory) + "/" + name;
}

void check_name(const std::string& name) {
  if (name.empty() || name.size() > NAME_MAX || name.find('/') != std::string::npos ||
      name == "." || name == "..")
    throw SystemError("use \"" + name + "\" as the name of a namespace", EINVAL);
}

/// As `ip netns add` does: the directory is a mount point of its own with shared propagation, so
/// that removing a namespace also removes the mounts that other mount namespaces inherited.
void prepare_directory() {
  // Two threads that both bind it would put one mount over the other.
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  const std::string directory(kNamespaceDirectory);
  if (::mkdir(directory.c_str(), 0755) != 0 && errno != EEXIST)
    throw SystemError("create " + directory, errno);
  const char* path = directory.c_str();
  if (::mount("", path, "none", MS_SHARED | MS_REC, nullptr) == 0) return;
  if (errno != EINVAL) throw SystemError("share " + directory, errno);
  check_system_call("bind " + directory, ::mount(path, path, "none", MS_BIND | MS_REC, nullptr));
  check_system_call("share " + directory, ::mount("", path, "none", MS_SHARED | MS_REC, nullptr));
}

void bring_loopback_up() {
  const FileDescriptor socket(
      check_system_call("open a socket", ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)));
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP;
  check_system_call("set loopback up", ::ioctl(socket.get(), SIOCSIFFLAGS, &request));
}

/// Of the calling thread's namespace.
uint64_t cookie_here() {
  const FileDescriptor socket(
      check_system_call("open a socket", ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)));
  uint64_t cookie = 0;
  socklen_t size = sizeof cookie;
  check_system_call("ask for the namespace's cookie",
                    ::getsockopt(socket.get(), SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &size));
  return cookie;
}

Sysctls quiet_ipv6(const char* forwarding) {
  Sysctls list;
  // "all" besides "default" where the kernel looks at both.
  for (const char* scope : {"default", "all"}) {
    const std::string conf = std::string("net/ipv6/conf/") + scope + "/";
    list.push_back({conf + "accept_dad", "0"});
    list.push_back({conf + "accept_ra", "0"});
    list.push_back({conf + "forwarding", forwarding});
  }
  list.push_back({"net/ipv6/conf/default/addr_gen_mode", "1"});  // none
  list.push_back({"net/ipv6/conf/default/dad_transmits", "0"});
  list.push_back({"net/ipv6/conf/default/router_solicitations", "0"});
  list.push_back({"net/ipv6/conf/default/autoconf", "0"});
  list.push_back({"net/ipv6/conf/default/accept_redirects", "0"});
  list.push_back({"net/ipv6/conf/default/keep_addr_on_down", "1"});
  return list;
}

}  // namespace

Sysctls switch_sysctls() {
  return {{"net/ipv6/conf/default/disable_ipv6", "1"}, {"net/ipv6/conf/all/disable_ipv6", "1"}};
}
Sysctls host_sysctls() {
  Sysctls list = quiet_ipv6("0");
  // Programs of the host send by one end of a veth, and the host's kernel forwards what arrives at its other end
  // (live/bringup/node_plan.h). It forwards at none of the host's ports, which are made later: the default is 0.
  list.push_back({"net/ipv6/conf/all/forwarding", "1"});
  list.push_back({"net/ipv6/conf/default/forwarding", "0"});
  // The hash takes ports as well, so that two connections of a pair of hosts may take two ways.
  list.push_back({"net/ipv6/fib_multipath_hash_policy", "1"});
  return list;
}
Sysctls forwarding_sysctls() { return quiet_ipv6("1"); }

void NetworkNamespace::enter() const {
  check_system_call("enter namespace " + name(), ::setns(fd(), CLONE_NEWNET));
}

void hide_folder(const std::string& folder) {
  check_system_call("make a mount namespace", ::unshare(CLONE_NEWNS));
  check_system_call("make mounts private",
                    ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr));
  check_system_call("hide " + folder, ::mount("tmpfs", folder.c_str(), "tmpfs",
                                              MS_NOSUID | MS_NODEV, "mode=1777,size=4m"));
}

void enter_private_namespaces() {
  check_system_call("make a network namespace", ::unshare(CLONE_NEWNET));
  check_system_call("make a mount namespace", ::unshare(CLONE_NEWNS));
  check_system_call("make a hostname namespace", ::unshare(CLONE_NEWUTS));
  check_system_call("make mounts private",
                    ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr));
}

NetworkNamespace::Visit::Visit(const NetworkNamespace& target)
    : home_(FileDescriptor::open(kOwnNamespace, O_RDONLY)) {
  target.enter();
}

NetworkNamespace::Visit::~Visit() {
  // After a failed return, all further calls would act on another namespace's network.
  if (::setns(home_.get(), CLONE_NEWNET) != 0) std::abort();
}

NetworkNamespace NetworkNamespace::create(const std::string& name, const Sysctls& sysctls,
                                          bool loopback_up,
                                          const std::function<void(uint64_t)>& about_to_have_name) {
  check_name(name);
  prepare_directory();
  const std::string path = path_of(name);
  // Before anything is recorded: who finds a name in a record may remove it.
  if (::access(path.c_str(), F_OK) == 0) throw SystemError("create " + path, EEXIST);
  const NetworkNamespace home = current();
  check_system_call("create network namespace " + name, ::unshare(CLONE_NEWNET));
  // From here on `inside` brings the thread back home, whatever happens.
  struct Return {
    const NetworkNamespace& home;
    ~Return() {
      if (::setns(home.fd(), CLONE_NEWNET) != 0) std::abort();
    }
  } const inside{home};
  for (const Sysctl& sysctl : sysctls) write_kernel_file("/proc/sys/" + sysctl.path, sysctl.value);
  if (loopback_up) bring_loopback_up();
  if (about_to_have_name) about_to_have_name(cookie_here());
  FileDescriptor fd = FileDescriptor::open(kOwnNamespace, O_RDONLY);
  FileDescriptor::open(path, O_RDONLY | O_CREAT | O_EXCL, 0);
  try {
    check_system_call("mount " + path,
                      ::mount(kOwnNamespace, path.c_str(), "none", MS_BIND, nullptr));
  } catch (...) {
    remove_namespace(name);
    throw;
  }
  return NetworkNamespace(name, std::move(fd), true);
}

NetworkNamespace NetworkNamespace::with_name(
    const std::string& name, const std::function<void(uint64_t)>& about_to_have_name) const {
  check_name(name);
  const std::string path = path_of(name), here = "/proc/self/fd/" + std::to_string(fd());
  if (::access(path.c_str(), F_OK) == 0) throw SystemError("create " + path, EEXIST);
  if (about_to_have_name) about_to_have_name(cookie());
  FileDescriptor::open(path, O_RDONLY | O_CREAT | O_EXCL, 0);
  try {
    FileDescriptor fd = FileDescriptor::open(here, O_RDONLY);
    check_system_call("mount " + path,
                      ::mount(here.c_str(), path.c_str(), "none", MS_BIND, nullptr));
    return NetworkNamespace(name, std::move(fd), true);
  } catch (...) {
    remove_namespace(name);
    throw;
  }
}

NetworkNamespace NetworkNamespace::open(const std::string& name) {
  check_name(name);
  return NetworkNamespace(name, FileDescriptor::open(path_of(name), O_RDONLY), false);
}

NetworkNamespace NetworkNamespace::from_descriptor(FileDescriptor fd, std::string name) {
  return NetworkNamespace(std::move(name), std::move(fd), false);
}

NetworkNamespace NetworkNamespace::current() {
  return NetworkNamespace("(own)", FileDescriptor::open(kOwnNamespace, O_RDONLY), false);
}

NetworkNamespace::NetworkNamespace(NetworkNamespace&& other) noexcept
    : name_(std::move(other.name_)),
      fd_(std::move(other.fd_)),
      owned_(std::exchange(other.owned_, false)) {}

NetworkNamespace& NetworkNamespace::operator=(NetworkNamespace&& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(fd_, other.fd_);
  std::swap(owned_, other.owned_);
  return *this;
}

NetworkNamespace::~NetworkNamespace() {
  if (!owned_) return;
  try {
    // Somebody may have removed the name, and given it to a namespace of their own.
    if (const auto named = cookie_of_name(name_); named && (*named == 0 || *named == cookie())) {
      remove_namespace(name_);
    }
  } catch (const SystemError&) {
    // A destructor cannot report; clean-up by the record finds what is left.
  }
}

ino_t NetworkNamespace::inode() const {
  struct stat status {};
  check_system_call("stat namespace " + name_, ::fstat(fd_.get(), &status));
  return status.st_ino;
}

uint64_t NetworkNamespace::cookie() const { return run_in(cookie_here); }

std::optional<uint64_t> cookie_of_name(const std::string& name) {
  check_name(name);
  const std::string path = path_of(name);
  const FileDescriptor held(::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat info {};
  if (!held || ::fstat(held.get(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  struct statfs system {};
  check_system_call("look at " + path, ::fstatfs(held.get(), &system));
  if (system.f_type != kNamespaceFileSystem) {
    return info.st_size == 0 ? std::optional<uint64_t>(0) : std::nullopt;
  }
  FileDescriptor fd = FileDescriptor::open("/proc/self/fd/" + std::to_string(held.get()), O_RDONLY);
  if (::ioctl(fd.get(), NS_GET_NSTYPE) != CLONE_NEWNET) return std::nullopt;
  return NetworkNamespace::from_descriptor(std::move(fd), name).cookie();
}

std::vector<std::string> list_namespaces(std::string_view prefix) {
  std::vector<std::string> names;
  std::error_code error;  // no directory: no namespaces
  for (const auto& entry : std::filesystem::directory_iterator(kNamespaceDirectory, error)) {
    std::string name = entry.path().filename().string();
    if (name.starts_with(prefix)) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool remove_namespace(const std::string& name) {
  check_name(name);
  const std::string path = path_of(name);
  // EINVAL: a file without a mount, from a process that died half way.
  if (::umount2(path.c_str(), MNT_DETACH) != 0 && errno != EINVAL && errno != ENOENT)
    throw SystemError("unmount " + path, errno);
  if (::unlink(path.c_str()) != 0) {
    if (errno == ENOENT) return false;
    throw SystemError("remove " + path, errno);
  }
  return true;
}

}  // namespace mrclab::netio
