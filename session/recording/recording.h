#pragma once
// What a world did, kept so that any instant of it can be shown again: packets one by one, events of hosts, and
// sums over bins of fabric time. Filled by recording_watch.h and run_follower.h.
//
// Bounded: packets take at most max_packets() entries, after that the oldest bins lose theirs (the sums stay).
// One thread.

#include <deque>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "fabric/topology/topology.h"
#include "session/recording/followed_part.h"
#include "session/recording/seen.h"

namespace mrclab::lab {

class Recording {
 public:
  static constexpr size_t kMaxPackets = 3'000'000;  ///< 56 bytes each (our choice)
  static constexpr size_t kMaxEvents = 100'000;     ///< of hosts, and as many windows
  static constexpr size_t kMaxSacks = 500'000;      ///< 40 bytes each, shared by the hosts
  static constexpr size_t kMaxCells = 8'000'000;    ///< wires times bins (our choice)

  /// Sums of one plane over one bin.
  struct PlaneSums {
    uint32_t received = 0;  ///< bytes of data that came in at hosts, as on the wire, not trimmed
    uint16_t lost = 0, trimmed = 0, marked = 0, again = 0;
    bool operator==(const PlaneSums&) const = default;
  };
  /// What one wire carried during one bin.
  struct WireSums {
    uint32_t bytes = 0;  ///< that left over it
    uint32_t queue = 0;  ///< bytes in front of the packet that had to wait longest
    uint16_t lost = 0, trimmed = 0, marked = 0;  ///< packets, at the port that it leaves, or on it
    bool operator==(const WireSums&) const = default;
  };

  /// `topology` outlives it. Nothing later than `end` is kept, and at most so many entries of packets.
  Recording(const Topology& topology, FabricTime end, size_t max_packets = kMaxPackets)
      : Recording(topology, end, max_packets, FollowedPart(topology)) {}
  /// Of this part of the fabric; what is added of others is left out.
  Recording(const Topology& topology, FabricTime end, size_t max_packets, FollowedPart part);
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  size_t max_packets() const { return max_packets_; }
  const FollowedPart& part() const { return part_; }
  /// Entries of packets that it has now.
  size_t kept_packets() const { return kept_; }

  /// Identifies a frame while it is in a switch; 0: unknown.
  using FrameKey = uint64_t;
  /// A packet came in, all of it.
  struct ArrivedPacket {
    FabricTime t;
    PortRef at;
    QueueClass queue = QueueClass::kNone;
    uint8_t opcode = 0, traffic_class = 0;
    uint16_t wire_length = 0;
    Qpn qp;  ///< destination; 0: a datagram, whose opcode may read as RC's first one
    FrameKey frame = 0;
  };

  // What happened, per node in the order of its commits. What is later than `end` is ignored.
  void add_arrival(const ArrivedPacket& packet);
  /// A packet leaves by a port, or is dropped there. Its wait, its mark and its wire are found out here.
  void add_departure(SeenPacket packet, PortRef at, Direction direction, FrameKey frame);
  void add_event(SeenEvent event);
  void add_window(const SeenWindow& window);
  /// It has arrived at `host`.
  void add_sack(NodeId host, const SeenSack& sack);
  /// Every node has committed `until`, and everything up to then was added. A packet is added when its node takes
  /// it in, one ingress latency after its arrival: arrivals are complete up to `until` less that latency.
  void complete(FabricTime until);
  /// Bins from the first on to which nothing more will be added.
  size_t complete_bins() const { return sorted_; }

  FabricTime bin() const { return bin_; }
  size_t bins() const { return bins_; }
  size_t bin_of(FabricTime t) const { return static_cast<size_t>(t / bin_); }
  /// By the wire's number in part().
  std::span<const WireSums> wires(size_t bin) const;
  std::span<const PlaneSums> planes(size_t bin) const;
  /// Packets of one bin, ordered by (time, wire) once complete.
  std::span<const SeenPacket> packets(size_t bin) const { return packets_[bin]; }
  /// Packets of earlier bins are no longer there.
  size_t first_kept() const { return first_kept_; }
  /// In the order of time, as far as complete.
  std::span<const SeenEvent> events() const { return std::span(events_).first(events_sorted_); }
  std::span<const SeenWindow> windows() const { return std::span(windows_).first(windows_sorted_); }
  /// Packets before this instant are no longer there.
  FabricTime kept_from() const { return bin_ * static_cast<int64_t>(first_kept_); }
  /// An event or a window of this instant is known to be missing.
  void leave_out(FabricTime t);
  /// The earliest event or window that is missing; never(): none is known to be.
  FabricTime told_until() const { return told_until_; }
  /// The newest SACK that a queue pair of a host had got by `until`; null: none, or it is no longer there.
  const SeenSack* last_sack(NodeId host, Qpn qp, FabricTime until) const;
  /// SACKs that `host` had got up to here are no longer there, but the newest ones; empty: all are.
  std::optional<FabricTime> sacks_forgotten(NodeId host) const;

 private:
  struct Inside {
    FabricTime came;  ///< its last bit
    PortId port;
    uint32_t wire_length = 0;
    bool marked = false;
  };
  /// What a switch did to it: how long it waited, and whether the mark is new.
  void add_stay(SeenPacket& packet, NodeId node, FrameKey frame);
  WireSums& sums_of(size_t bin, WireId wire) {
    return wire_sums_[bin * part_.wires() + part_.number(wire)];
  }
  PlaneSums& sums_of(size_t bin, uint32_t plane) {
    return plane_sums_[bin * topology_.planes + plane];
  }
  void record_packet(const SeenPacket& seen);
  void forget_oldest();

  const Topology& topology_;
  FollowedPart part_;
  FabricTime end_;
  size_t max_packets_;
  FabricTime bin_;
  size_t bins_;
  size_t hosts_;  // that are recorded
  std::vector<WireSums> wire_sums_;
  std::vector<PlaneSums> plane_sums_;
  std::vector<std::vector<SeenPacket>> packets_;  // by bin
  size_t kept_ = 0, first_kept_ = 0;
  size_t sorted_ = 0;         // bins that are in order
  size_t events_sorted_ = 0;  // events that are in order
  size_t windows_sorted_ = 0;
  std::vector<SeenEvent> events_;
  std::vector<SeenWindow> windows_;
  FabricTime told_until_ = FabricTime::never();
  /// By node: frames that have come in at a switch and not left. Bounded by kMaxInside.
  std::vector<std::unordered_map<FrameKey, Inside>> inside_;
  std::vector<std::deque<SeenSack>>
      sacks_;  // by number of the node, in order of time; the oldest go first
  std::vector<std::optional<FabricTime>> sacks_forgotten_;  // by number of the node
};

/// Where two histories part: the first packet, by (time, wire), that one has and the other has not.
struct FirstDifference {
  FabricTime t;
  std::optional<SeenPacket> a, b;  ///< at its place; at least one of them is there
};
/// Looks at complete bins before `until`, from the first that both have kept; empty: no difference there.
std::optional<FirstDifference> first_difference(const Recording& a, const Recording& b,
                                                FabricTime until);

}  // namespace mrclab::lab
