#pragma once
// Every frame accounted for:
//
//   per directed wire   sent = arrived + lost on the way + in flight at the end
//   per switch          taken in = sent on + dropped inside + queued at the end
//
// Frames in flight or queued at the end cannot be seen, but they cannot be old. Every frame takes
// the same time over a wire, so all frames that left up to some instant have arrived, or have a
// drop record, that much later: as many, exactly (on wires that a fault delays: at least as many in
// the end). In a switch a frame is followed by name (opcode, hosts, QPN, PSN, EV) and must come
// out, or have a drop record, before it has been there for longer than the queues last; nothing
// comes out that did not go in.
//
// A frame that a fault sends twice is two transmissions on its wire, and leaves its switch twice.
// Many frames may share a name (all that are no MRC do), and no record shows which of them were sent
// twice. At most half of the frames that left through ports which send twice can be copies.
//
// Counts any frame: data, control, and what is no MRC. Records of one node come in its commit order.

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/history/name_table.h"
#include "fabric/base/byte_order.h"
#include "fabric/base/cache_line.h"
#include "fabric/node/effect.h"
#include "fabric/node/node.h"
#include "fabric/node/port_groups.h"
#include "fabric/packet/headers.h"
#include "fabric/topology/dscp.h"
#include "fabric/topology/topology.h"

namespace mrclab::analysis {

struct Balance {
  uint64_t taken = 0;     ///< sent onto the wire, or in by a switch
  uint64_t due = 0;       ///< taken so long ago that they must be accounted for
  uint64_t passed = 0;    ///< arrived, or sent on
  uint64_t dropped = 0;   ///< with a cause
  uint64_t missing = 0;   ///< due, but not accounted for
  uint64_t invented = 0;  ///< accounted for, but never taken
  uint64_t accounted() const { return passed + dropped; }
  bool holds() const { return missing == 0 && invented == 0; }
};

/// A hash of what a frame keeps on its way through a switch; one value for
/// all frames that are not MRC. `peers` separates pairs of hosts, because
/// all endpoint probes and their answers share a QPN. Names of frames and names of their records are not the same, and
/// are never counted together.
uint64_t name_of_frame(Opcode opcode, Qpn qpn, Psn psn, EntropyValue ev, uint32_t peers);
inline uint64_t name_of_frame(const Frame& frame);

/// The name of every frame that begins and ends at the two ports of its wire: pauses, and what
/// BGP speakers send to each other (is_from_speaker).
inline constexpr uint64_t kLinkLocalFrame = ~uint64_t{0};

/// Did a speaker send this frame, BGP or BFD? Recognized by its traffic class alone, because a record of a
/// frame that is no MRC packet keeps neither addresses nor ports.
constexpr bool is_from_speaker(bool mrc, uint8_t traffic_class) {
  return !mrc && traffic_class >> 2 == kDscpRouting;
}

class Conservation {
 public:
  /// `schedule` holds the reduced rates of wires. Records later than `end` are not counted. Threads may count records of
  /// different nodes at once.
  Conservation(const Topology& topology, std::span<const ScheduledEffect> schedule, FabricTime end);

  void count_record(NodeId node, PortId port, Direction direction, PacketEvent event,
                    DropCause cause, QueueClass queue, FabricTime t, uint64_t frame_name);
  /// Loads into the cache what count_record() reads of a node.
  void fetch(NodeId node) const;
  /// Records of all ports of all nodes were offered: only then do the balances mean anything.
  void complete() { complete_ = true; }
  void incomplete() { complete_ = false; }
  bool is_complete() const { return complete_; }

  Balance wire(WireId id) const;
  /// `node` is a switch.
  Balance inside(NodeId node) const;
  uint64_t records() const;

  /// The longest that a frame stays in a switch before it is sent on or dropped: the pipeline, its own
  /// queue full, and what the weights of the scheduler (fabric/topology/scheduler_weights.h) give to the other
  /// classes meanwhile, at the slowest rate that a fault allows. RoCE's data counts beside MRC's where
  /// the switch was seen to carry both.
  FabricTime residence(NodeId node) const { return nodes_[node.value].longest_residence(); }
  /// The longest that a frame is on its way from host to host: all switches of a path at their
  /// slowest, all its wires at their longest.
  FabricTime longest_crossing() const;

 private:
  struct PortCount {
    uint64_t sent = 0, arrived = 0;
    /// Frames that the port sent after sent_due_until, and frames that arrived or were lost on the wire after the node's
    /// ended_due_until: wire() leaves both out of what is due. They are the few of a run's last microseconds.
    uint32_t sent_late = 0, ended_late = 0;
    uint64_t lost : 62 = 0;
    uint64_t delays : 1 = 0;    // the wire out of this port, at some time
    uint64_t copies : 1 = 0;    // likewise: it carries frames twice
    FabricTime sent_due_until;  // what has left by then must have arrived
  };
  static_assert(sizeof(PortCount) == 40, "a large fabric has millions");
  /// Frames of one name that a switch took in and has not sent. 8 bytes, because all frames under way are noted in one.
  class Inside {
   public:
    void add(FabricTime t) {
      if (frames_ < kMostFrames) ++frames_;
      since_ = std::min<uint64_t>(kLatest, static_cast<uint64_t>(t.ps() + 999) / 1000) & kLatest;
    }
    /// False when none is left.
    bool take() { return --frames_ > 0; }
    uint32_t frames() const { return frames_; }
    /// The instant at which the newest of them came in, rounded up to nanoseconds; never() beyond 4.8 hours of fabric time,
    /// so that no balance counts such a frame as missing.
    FabricTime since() const {
      return since_ == kLatest ? FabricTime::never() : FabricTime::from_ns(since_);
    }

   private:
    static constexpr uint64_t kLatest = (uint64_t{1} << 44) - 1;      // ns
    static constexpr uint32_t kMostFrames = (uint32_t{1} << 20) - 1;  // over any buffer
    uint64_t since_ : 44 = 0;
    uint64_t frames_ : 20 = 0;
  };
  static_assert(sizeof(Inside) == 8);
  struct Copies {
    uint32_t left = 0;    // frames of this name that left through ports which may send twice
    uint32_t second = 0;  // frames among those that must be copies, because none was inside
  };
  struct NodeCount {
    explicit NodeCount(size_t port_count) : ports(port_count) {}
    PortGroups<PortCount> ports;
    uint64_t records = 0;
    uint64_t in = 0, in_due = 0, out = 0, dropped = 0, invented = 0;
    std::array<FabricTime, 2> residence;  // [1]: RoCE and MRC share its links
    FabricTime
        ended_due_until;  // what was sent in time has arrived by then where wires delay nothing
    bool is_switch = false;
    bool mrc = false, roce = false;  // data of either kind was in a queue of it
    bool may_copy = false;
    bool renames = false;           // it damages frames at some time: then they can only be counted
    NameTable<Inside> inside = {};  // names of which frames are inside
    NameTable<Copies> copies = {};  // names of which frames may have left twice
    FabricTime longest_residence() const { return residence[mrc && roce ? 1 : 0]; }
  };
  /// `may_be_copy`: the frame leaves through a port that sends frames twice at some time.
  void leaves(NodeCount& node, uint64_t frame_name, bool may_be_copy);
  FabricTime in_due_until(FabricTime residence) const;

  PortCount without_records(const Port& port) const;
  PortCount count_of(PortRef at) const;

  const Topology& topology_;
  FabricTime end_;
  /// What the schedule does at some time to a wire; the others are as built.
  struct WireWorst {
    BitRate rate;
    FabricTime delay;
    bool copies = false;
  };
  std::unordered_map<uint32_t, WireWorst> worst_;  // by WireId
  WireWorst worst_of(const Wire& wire) const;
  std::vector<NodeCount> nodes_;
  FabricTime longest_on_wires_;
  bool complete_ = false;
};

/// The digest hashes the content of a packet with a carrier once for all its ports; that is its name, too.
constexpr uint64_t name_of_content(uint64_t hash) {
  return hash == 0 || hash == kLinkLocalFrame ? 1 : hash;
}
/// The name of a frame that is not is_carried_packet().
uint64_t name_of_other_frame(const Frame& frame);

/// Is it a packet of MRC that a carrier takes through the fabric, whole up to its BTH? As encapsulation_of() has it, in a
/// few loads, because nearly all frames are that.
[[gnu::always_inline]] inline bool is_carried_packet(std::span<const uint8_t> bytes) {
  constexpr size_t kNextHeader = 6;  // RFC 8200 section 3
  if (bytes.size() < kAfterBthOffset) return false;
  const uint8_t* const outer = &bytes[kOuterOffset];
  const uint8_t* const inner = &bytes[kInnerOffset];
  const uint16_t port = load_be<uint16_t>(&bytes[kUdpOffset + 2]);
  return load_be<uint16_t>(outer - 2) == kEthertypeIpv6 && *outer >> 4 == 6 &&
         outer[kNextHeader] == kNextHeaderIpv6 && *inner >> 4 == 6 &&
         inner[kNextHeader] == kNextHeaderUdp &&
         (port == kMrcUdpPort || port == kMrcUdpPortAlternate);
}

// Inline from here on, because nodes are watched at each hop of each frame.
[[gnu::always_inline]] inline uint64_t name_of_frame(const Frame& frame) {
  if (!frame) return 0;
  const bool known = frame.content() != 0 && is_carried_packet(frame.bytes());
  return known ? name_of_content(frame.content()) : name_of_other_frame(frame);
}

inline void Conservation::fetch(NodeId node) const {
  fetch_lines(&nodes_[node.value], sizeof(NodeCount));
  nodes_[node.value].ports.for_each_group([](uint32_t, std::span<PortCount> counts) {
    fetch_lines(counts.data(), counts.size_bytes());
  });
  nodes_[node.value].inside.fetch();
}

inline void Conservation::leaves(NodeCount& node, uint64_t frame_name, bool may_be_copy) {
  if (!node.is_switch || node.renames) return;
  if (may_be_copy) ++node.copies[frame_name].left;
  if (Inside* frames = node.inside.find(frame_name)) {
    if (!frames->take()) node.inside.erase_found(frames);
    return;
  }
  Copies* copies = node.copies.find(frame_name);
  if (copies != nullptr && copies->second < copies->left / 2) {
    ++copies->second;
  } else {
    ++node.invented;
  }
}

[[gnu::always_inline]] inline void Conservation::count_record(NodeId node_id, PortId port_id,
                                                              Direction direction,
                                                              PacketEvent event, DropCause cause,
                                                              QueueClass queue, FabricTime t,
                                                              uint64_t frame_name) {
  if (t > end_) return;
  NodeCount& node = nodes_[node_id.value];
  PortCount& port = node.ports.at(port_id.value, [this, node_id](uint32_t number) {
    return without_records(topology_.port({node_id, PortId{number}}));
  });
  ++node.records;
  node.roce = node.roce || queue == QueueClass::kLossless;
  node.mrc = node.mrc || queue == QueueClass::kData || queue == QueueClass::kTrimmed;
  if (event == PacketEvent::kDropped) {
    if (direction == Direction::kIngress && lost_on_wire(cause)) {
      ++port.lost;
      if (t > node.ended_due_until) ++port.ended_late;
    } else {
      if (frame_name == kLinkLocalFrame) return;
      ++node.dropped;
      leaves(node, frame_name, false);
    }
  } else if (direction == Direction::kIngress) {
    ++port.arrived;
    if (t > node.ended_due_until) ++port.ended_late;
    if (frame_name == kLinkLocalFrame) return;
    ++node.in;
    if (node.renames && t <= in_due_until(node.residence[1])) ++node.in_due;
    if (!node.is_switch || node.renames) return;
    node.inside[frame_name].add(t);
  } else {
    ++port.sent;
    if (t > port.sent_due_until) ++port.sent_late;
    if (frame_name == kLinkLocalFrame) return;
    ++node.out;
    leaves(node, frame_name, port.copies);
  }
}

}  // namespace mrclab::analysis
