#pragma once
// All packets of one namespace: a receive ring for IPv6, a small one for void frames
// (fabric/packet/trailer.h), one for IPv4 where the fabric has such an underlay, one for pause frames where switches
// and NICs pause, and one transmit socket for all interfaces.
//
// Bound to protocols, not to ETH_P_ALL: a tap sees frames before tc and nftables ingress do, and
// what a user's nftables rule drops must really be lost to us. Nothing here blocks.
//
// Threading: one thread. Costs: receiving needs no system call; send_queued() one sendmmsg per 1024
// frames; update_carriers() one. Opening a ring waits for one RCU grace period (8 ms), closing for two or three.

#include <sys/socket.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/packet/frame.h"
#include "fabric/packet/whole_frame.h"
#include "fabric/topology/topology.h"
#include "netio/kernel/link.h"
#include "netio/kernel/namespace.h"
#include "netio/packet/send_ring.h"

namespace mrclab::netio {

struct PacketSocketOptions {
  /// The longest frame with its trailer that has a place in the rings of IPv6 and IPv4.
  size_t frame_bytes = kFrameCapacity + kTrailerReserve;
  size_t ring_bytes = 2 << 20;         ///< IPv6 ring: 448 frames of full size
  size_t void_ring_bytes = 256 << 10;  ///< 744 void frames
  bool ipv4 = false;                   ///< another ring as large as IPv6's
  bool pause = false;                  ///< another ring as large as that of void frames
  bool lldp = false;                   ///< likewise
  size_t send_buffer_bytes = 64 << 20;
  /// Faster, but hides sent frames from tcpdump and tc on the sending interface.
  bool qdisc_bypass = false;
  /// The namespace gets its interfaces later: call find_interfaces() then. To list and watch links earlier would slow
  /// down whoever makes them, as the kernel has one lock and one list of watches for all namespaces.
  bool interfaces_later = false;
};

/// The ring sizes for a node, from the most frames that wait at once: a neighbour is ahead by its
/// wire's lookahead at most, and was behind by the lookahead of the way back when the ring was last
/// drained; in that time a port takes some seven full frames at 100 Gb/s, two hundred of a PMTU of
/// 512 at 400 Gb/s, and 180 writes of a few bytes at 100 Gb/s. There is room for twice the full
/// frames, and for the shortest ones in a lab of up to some 80 ports: the kernel clears all of it
/// before the lab is up. `room`: how long the longest frames on the wires are (fabric/packet/frame_room.h).
PacketSocketOptions rings_for(const Topology& topology, NodeId node, FrameRoom room = {});

/// The most frames with so many bytes of payload that may wait at once at a port for its node to read them.
size_t frames_waiting(const Topology& topology, const Port& port, uint64_t payload);

/// What was received and what the kernel lost, since the socket was opened.
struct PacketStatistics {
  uint64_t received = 0;            ///< handed to drain's callback
  uint64_t ring_drops = 0;          ///< no room in the ring: frames lost in this process
  uint64_t truncated = 0;           ///< longer than a ring slot: not handed on
  uint64_t checksum_not_ready = 0;  ///< a sender left its checksum to hardware that is not there
  uint64_t sent = 0;
  uint64_t send_failures = 0;
};

/// A frame that did not leave: its place in the order of queue() calls since the last flush().
/// EAGAIN: the kernel had no room, try again later. ENETDOWN, ENXIO: the interface is down, is
/// gone. ENOBUFS, ENOLINK: its far end is down, just now or for longer. EMSGSIZE: over the MTU.
struct SendFailure {
  size_t index = 0;
  uint32_t ifindex = 0;
  int error_number = 0;
};

struct PortInterface {
  uint32_t ifindex = 0;
  std::string name;
};

/// One TPACKET_V2 receive ring. Used by PacketSocket.
class PacketRing {
 public:
  PacketRing(uint16_t ethertype, size_t slot_payload, size_t ring_bytes);
  PacketRing(PacketRing&& other) noexcept;
  PacketRing& operator=(PacketRing&&) = delete;
  ~PacketRing();

  struct Received {
    uint32_t ifindex = 0;
    std::span<const uint8_t> frame;
    uint64_t realtime_ns = 0;
    bool outgoing = false;
    bool truncated = false;
    bool checksum_not_ready = false;
  };
  /// Is there a frame not yet released?
  bool waiting() const { return (status(slot(next_)) & kForUser) != 0; }
  /// The oldest frame not yet released, or false. It stays valid until release().
  bool peek(Received& out) const;
  void release();
  int fd() const { return fd_.get(); }
  /// Drops since the last call.
  uint64_t take_drops();
  size_t slots() const { return slots_; }

 private:
  static constexpr uint32_t kForUser = 1;  // TP_STATUS_USER of linux/if_packet.h
  static uint32_t status(uint8_t* slot) {
    return std::atomic_ref(*reinterpret_cast<uint32_t*>(slot)).load(std::memory_order_acquire);
  }
  uint8_t* slot(size_t index) const {
    return memory_ + index / slots_per_block_ * block_bytes_ +
           index % slots_per_block_ * slot_bytes_;
  }

  FileDescriptor fd_;
  uint8_t* memory_ = nullptr;
  size_t mapped_ = 0;
  size_t block_bytes_ = 0;
  size_t slot_bytes_ = 0;
  size_t slots_per_block_ = 0;
  size_t slots_ = 0;
  size_t next_ = 0;
};

/// AF_PACKET input and output for every interface of one namespace.
class PacketSocket {
 public:
  explicit PacketSocket(const NetworkNamespace& ns, const PacketSocketOptions& options = {});
  PacketSocket(PacketSocket&&) noexcept;
  ~PacketSocket();

  /// A list of links may show a carrier that does not work yet; asking for one link makes it work
  /// (LiveFabric asks for each before its daemons get the links).
  enum class Carriers { kToBeAskedFor, kAskedFor };
  /// Looks which interfaces the namespace has, watches their carriers from now on, and forgets what was received.
  void find_interfaces(const NetworkNamespace& ns, Carriers carriers = Carriers::kToBeAskedFor);

  /// Hands at most `limit` waiting frames to callback(uint32_t ifindex, std::span<const uint8_t>,
  /// uint64_t rx_monotonic_ns) and returns how many. The bytes are valid during the call only. The
  /// kernel's receive timestamp is given on CLOCK_MONOTONIC. Own outgoing frames are never seen.
  template <class Callback>
  size_t drain(Callback&& callback, size_t limit = 1024) {
    const bool ipv4 = ipv4_ring_ && ipv4_ring_->waiting();
    const bool pause = pause_ring_ && pause_ring_->waiting();
    const bool lldp = lldp_ring_ && lldp_ring_->waiting();
    if (!ring_.waiting() && !void_ring_.waiting() && !ipv4 && !pause && !lldp)
      return 0;  // most ticks
    const int64_t to_monotonic = monotonic_minus_realtime_ns();
    size_t count = drain_ring(void_ring_, callback, limit, to_monotonic);
    if (ipv4) count += drain_ring(*ipv4_ring_, callback, limit - count, to_monotonic);
    if (pause) count += drain_ring(*pause_ring_, callback, limit - count, to_monotonic);
    if (lldp) count += drain_ring(*lldp_ring_, callback, limit - count, to_monotonic);
    return count + drain_ring(ring_, callback, limit - count, to_monotonic);
  }

  /// Puts a frame in line for `ifindex`. The bytes are not copied: they must stay until flush().
  void queue(uint32_t ifindex, const FramePieces& frame);
  void queue(uint32_t ifindex, std::span<const uint8_t> frame) {
    queue(ifindex, FramePieces{frame, {}, {}});
  }
  /// Hands everything in line to the kernel, in order. Frames that it refused are returned, never
  /// silently lost; the others went. The span is valid until the next flush, in order of index.
  ///
  /// One thing the kernel does not refuse: a frame for an interface without carrier goes to its
  /// noop qdisc, which drops it and reports success. So carriers are watched here; a frame in the
  /// few milliseconds between that and the kernel's message is lost all the same, and shows as a
  /// sequence gap at the receiver.
  std::span<const SendFailure> flush() {
    if (queued() > 0) update_carriers();
    return send_queued();
  }
  /// The second half of flush(), for a caller that runs update_carriers() when carriers_fd() is readable: one
  /// system call then covers many sockets.
  std::span<const SendFailure> send_queued();
  void update_carriers();
  int carriers_fd() const { return watch_->fd(); }
  /// Was the interface up, with a carrier, as of the last update_carriers()?
  bool can_carry(uint32_t ifindex) const;
  /// In place of send_queued(): puts what is in line into a ring, with tags from `first_tag` on. When the ring has
  /// sent it and refuse() was called for each tag that was refused, finish_sending() returns the same.
  void put_queued(SendRing& ring, uint64_t first_tag);
  void refuse(uint64_t tag, int error_number);
  std::span<const SendFailure> finish_sending();
  size_t queued() const { return outgoing_.size(); }
  /// PacketSocketOptions::frame_bytes
  size_t longest_frame() const { return longest_frame_; }

  const std::vector<PortInterface>& interfaces() const { return interfaces_; }
  /// Throws std::out_of_range for a name that the namespace did not have when it was last looked at.
  uint32_t ifindex_of(std::string_view name) const;
  /// Empty for an unknown index (loopback among them).
  std::string_view name_of(uint32_t ifindex) const;
  /// Reads the kernel's drop counters (a system call per ring).
  const PacketStatistics& statistics();
  /// For a sleeper: readable when a frame waits in the IPv6 ring, in the void ring.
  int fd() const { return ring_.fd(); }
  int void_fd() const { return void_ring_.fd(); }

 private:
  struct Outgoing {
    uint32_t ifindex;
    FramePieces frame;
  };
  static int64_t monotonic_minus_realtime_ns();
  template <class Callback>
  size_t drain_ring(PacketRing& ring, Callback& callback, size_t limit, int64_t to_monotonic) {
    PacketRing::Received packet;
    size_t handed = 0;
    for (size_t seen = 0; seen < ring.slots() && handed < limit && ring.peek(packet); ++seen) {
      if (accept(packet)) {
        callback(packet.ifindex, packet.frame, packet.realtime_ns + to_monotonic);
        ++handed;
      }
      ring.release();
    }
    statistics_.received += handed;
    return handed;
  }
  bool accept(const PacketRing::Received& packet) {
    statistics_.checksum_not_ready += packet.checksum_not_ready;
    statistics_.truncated += packet.truncated;
    return !packet.outgoing && !packet.truncated && packet.ifindex != loopback_;
  }
  struct SendBatch;
  void forget_received();
  void note_carrier(const LinkState& link);
  void send_batch(size_t first, size_t last);
  bool is_dark(const Outgoing& frame) const;
  void fail(size_t index, int error_number);

  NamespaceNetlink netlink_;
  std::optional<LinkWatch> watch_;
  std::vector<PortInterface> interfaces_;
  std::vector<uint32_t> dark_;  ///< up but without carrier; empty on the fast path
  std::vector<uint32_t> down_;  ///< down, so that the kernel itself refuses a frame
  uint32_t loopback_ = 0;
  size_t longest_frame_;
  PacketRing ring_;
  PacketRing void_ring_;
  std::optional<PacketRing> ipv4_ring_, pause_ring_, lldp_ring_;
  FileDescriptor send_socket_;
  std::vector<Outgoing> outgoing_;
  uint64_t first_tag_ = 0;  ///< that outgoing_ has in a ring
  std::vector<SendFailure> failures_;
  std::unique_ptr<SendBatch> batch_;
  PacketStatistics statistics_;
};

}  // namespace mrclab::netio
