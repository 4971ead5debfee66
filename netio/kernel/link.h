#pragma once
// veth links and interface state over netlink. No `ip` process is ever started.
//
// Both ends of a veth are created directly in their namespaces: nothing ever shows in the root
// namespace. One queue per device (30 % cheaper to create). A veth is not deleted: it goes with its
// namespace.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fabric/topology/topology.h"
#include "netio/kernel/link_state.h"
#include "netio/kernel/netlink.h"

namespace mrclab::netio {

/// Room for PMTU 4096, headers and the time trailer, with some to spare.
inline constexpr uint32_t kLinkMtu = 9000;

struct VethEnd {
  const NetworkNamespace* ns = nullptr;  ///< outlives the call
  std::string name;                      ///< at most 15 characters: "p2"
  MacAddress mac{};
  std::string full_name;  ///< altname, "h3:p2"; empty for none
};

struct VethPair {
  VethEnd a;
  VethEnd b;
  uint32_t mtu = kLinkMtu;
};

/// Creates all pairs, down. The error names the pair.
void create_veths(std::span<const VethPair> pairs);

/// One netlink socket in one namespace, kept open: interface state and everything of route.h.
class NamespaceNetlink {
 public:
  explicit NamespaceNetlink(const NetworkNamespace& ns);

  const std::string& namespace_name() const { return name_; }
  NetlinkSocket& socket() { return socket_; }
  /// All interfaces, loopback included, by ascending ifindex. Unlike link(), a list does not make
  /// the kernel's link watch run: a carrier in it may be one that swallows frames for up to a
  /// second.
  std::vector<LinkState> links();
  /// Asks the kernel, which also makes it act on a carrier change at once: after this a carrier is
  /// one that carries. Throws for no such link.
  LinkState link(const std::string& name);
  /// From the kernel's last answer that named the interface, or else a new list of all: ifindexes do not change in our
  /// namespaces.
  uint32_t ifindex(const std::string& name);
  /// Queues the change; flush() waits and throws.
  void queue_up(const std::string& name) { queue_flags(name, true); }
  void queue_down(const std::string& name) { queue_flags(name, false); }
  void queue_altname(const std::string& name, const std::string& full_name);
  void flush() { socket_.flush(); }
  /// Changes the state and waits until the kernel has done it.
  void set_up(const std::string& name) { queue_up(name), flush(); }
  void set_down(const std::string& name) { queue_down(name), flush(); }

 private:
  void queue_flags(const std::string& name, bool up);

  std::string name_;
  NetlinkSocket socket_;
  std::map<std::string, uint32_t> indexes_;  ///< ifindex by name
};

/// Link messages of one namespace. Poll fd() for reading, then read().
class LinkWatch {
 public:
  explicit LinkWatch(const NetworkNamespace& ns);
  int fd() const { return fd_.get(); }
  /// The states that the kernel reported since the last call, without blocking; at most `limit`.
  std::vector<LinkState> read(size_t limit = 256);
  /// As read(), but where the kernel lost messages the states of all links follow, which `netlink`
  /// is asked for.
  std::vector<LinkState> read_or_ask(NamespaceNetlink& netlink);
  /// Has the kernel lost messages since this was last asked?
  bool take_overrun() { return std::exchange(overrun_, false); }

 private:
  FileDescriptor fd_;
  bool overrun_ = false;
};

/// Switches off transmit checksums, TSO, GSO and GRO. A veth that offloads its checksum hands
/// AF_PACKET readers packets without a computed checksum, and TSO hands them 64 KiB ones: needed on
/// every interface that a kernel's own IPv6 sends from.
void disable_offloads(const NetworkNamespace& ns, std::span<const std::string> interfaces);

}  // namespace mrclab::netio
