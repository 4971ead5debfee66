#pragma once
// What programs change in a network namespace, as the kernel reports it: links, addresses, neighbours, routes, rules,
// queueing disciplines and their filters (tc), and the packet filter (nftables).
//
// A report names the socket by which a change was asked for. So changes of the caller's own sockets are not delivered
// at all, and thousands of them neither wake the caller nor fill the buffer. Nor are routes and neighbours that the
// kernel changes by itself, which follow from a change of a link or an address that is reported. Links and addresses
// are reported whoever changed them, without a name: the caller asks how they are now and compares.
// Sysctls are not reported by the kernel: sysctl_watch.h.

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "netio/kernel/namespace.h"
#include "netio/system/file_descriptor.h"

namespace mrclab::netio {

struct KernelChange {
  enum class Kind : uint8_t {
    kLink,
    kAddress,
    kNeighbour,
    kRoute,
    kRule,
    kQdisc,
    kQdiscFilter,
    kPacketFilter,
  };
  Kind kind = Kind::kLink;
  bool removed = false;
  uint32_t ifindex = 0;   ///< of kLink, kNeighbour, kQdisc and kQdiscFilter
  uint32_t sender = 0;    ///< netlink port of the socket that asked for it; 0: not reported
  std::string what = {};  ///< "5f00:0:100::/48", "netem", "fe80::1"; empty for links and addresses
};

class ChangeWatch {
 public:
  /// The most changes that one call reads; the next call reads the others.
  static constexpr size_t kMaxRead = 1024;
  /// `own`: netlink ports of the caller's own sockets in this namespace, whose changes are not reported.
  /// `packet_filter`: is that watched, too? A kernel without nftables has nothing to report of it.
  ChangeWatch(const NetworkNamespace& ns, std::span<const uint32_t> own, bool packet_filter);

  int fd() const { return fd_.get(); }
  /// Of the packet filter's reports; negative where it is not watched.
  int filter_fd() const { return filter_fd_.get(); }
  /// Changes since the last call, without blocking.
  std::vector<KernelChange> read();
  /// Has the kernel lost reports, as its buffer was full, since the last call? What they were is lost.
  bool take_overrun() { return std::exchange(overrun_, false); }

 private:
  void read_all(int fd, std::vector<KernelChange>& changes);

  FileDescriptor fd_;
  FileDescriptor filter_fd_;
  std::unique_ptr<uint8_t[]> buffer_;  ///< not cleared: few messages fill it
  bool overrun_ = false;
};

/// Watches of many namespaces, by number, and which of them have something to read.
class ChangeWatchSet {
 public:
  ChangeWatchSet();
  /// Its number is size() before the call. Throws SystemError.
  void watch_namespace(const NetworkNamespace& ns, std::span<const uint32_t> own,
                       bool packet_filter);
  size_t size() const { return watches_.size(); }
  ChangeWatch& operator[](size_t number) { return watches_[number]; }
  /// Some of those that the kernel has reported something to, in order; the others come with the next call.
  std::vector<size_t> ready() const;

 private:
  void poll_for(int fd);

  FileDescriptor epoll_;
  std::deque<ChangeWatch> watches_;
};

}  // namespace mrclab::netio
