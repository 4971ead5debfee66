#pragma once
// Every frame accounted for, by counting records alone:
//
//   per directed wire   sent = arrived + lost on the way + in flight at the end
//   per switch          taken in = sent on + dropped inside + queued at the end
//
// What is in flight or queued at the end cannot be seen, but it cannot be old: a frame that left a
// wire's sender longer ago than the wire is long, or entered a switch longer ago than its queues
// last, is *due*, and must be on the other side or have a drop record. So for each of them
// due <= accounted <= taken, and a single missing or invented frame shows, unless a frame that is
// not due makes up for it.
//
// Counts any frame: data, control, foreign. Constant work per record, nothing allocated.

#include <cstdint>
#include <span>
#include <vector>

#include "fabric/effect.h"
#include "fabric/node.h"
#include "fabric/topology.h"

namespace mrclab::analysis {

struct Balance {
  uint64_t taken = 0;    ///< sent onto the wire, or in by a switch
  uint64_t due = 0;      ///< of these, so long ago that they must be accounted for
  uint64_t passed = 0;   ///< arrived, or sent on
  uint64_t dropped = 0;  ///< with a cause
  uint64_t accounted() const { return passed + dropped; }
  bool holds() const { return due <= accounted() && accounted() <= taken; }
};

class Conservation {
 public:
  /// `schedule` says how slow wires became. Records later than `end` are not counted.
  Conservation(const Topology& topology, std::span<const ScheduledEffect> schedule, FabricTime end);

  /// Any order.
  void add(NodeId node, PortId port, Direction direction, PacketEvent event, DropCause cause,
           FabricTime t);
  /// Records of all ports of all nodes were offered: only then do the balances mean anything.
  void complete() { complete_ = true; }
  bool is_complete() const { return complete_; }

  Balance wire(WireId id) const;
  /// `node` is a switch.
  Balance inside(NodeId node) const;
  uint64_t records() const { return records_; }

  /// The longest that a frame stays in a switch before it is sent on or dropped: the pipeline, and
  /// both queues full, each served half of the time at the slowest rate that a fault allows.
  FabricTime residence(NodeId node) const { return nodes_[node.value].residence; }
  /// The longest that a frame is on its way from host to host: all switches of a path at their
  /// slowest, all its wires at their longest.
  FabricTime longest_crossing() const { return longest_crossing_; }

 private:
  struct PortCount {
    uint64_t sent = 0, sent_due = 0;
    uint64_t arrived = 0, lost = 0;
    FabricTime sent_due_until;  // what has left by then must have arrived
  };
  struct NodeCount {
    uint64_t in = 0, in_due = 0, out = 0, dropped = 0;
    FabricTime residence;
    FabricTime in_due_until;
  };

  const Topology& topology_;
  FabricTime end_;
  std::vector<uint32_t> first_port_;  // by node
  std::vector<PortCount> ports_;
  std::vector<NodeCount> nodes_;
  FabricTime longest_crossing_;
  uint64_t records_ = 0;
  bool complete_ = false;
};

}  // namespace mrclab::analysis
