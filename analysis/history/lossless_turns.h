#pragma once
// Which ways RoCE's data took through the switches: in by which port, out by which. Where the ways of paused
// ports make no circle there can be no deadlock. Kept only for fabrics that pause (one look-up for each
// record of a switch).

#include <cstdint>
#include <unordered_map>
#include <unordered_set>

#include "fabric/node/node.h"

namespace mrclab::analysis {

class LosslessTurns {
 public:
  /// Frames that are followed at once; those beyond are not, which costs turns that nothing else shows.
  static constexpr size_t kMaxInside = 1 << 20;

  /// A record of a switch, in its commit order. `frame_name` as in conservation.h.
  void count_record(NodeId node, PortId port, Direction direction, PacketEvent event,
                    QueueClass queue, uint64_t frame_name);
  /// Did a frame of RoCE's data come in by `in` and leave by `out`?
  bool used(NodeId node, PortId in, PortId out) const {
    return turns_.contains(key_of(node, in, out));
  }
  bool empty() const { return turns_.empty(); }

 private:
  static uint64_t key_of(NodeId node, PortId in, PortId out) {
    return uint64_t{node.value} << 32 | uint64_t{in.value & 0xFFFF} << 16 | (out.value & 0xFFFF);
  }

  std::unordered_map<uint64_t, PortId> inside_;  // by node and name; look-up only
  std::unordered_set<uint64_t> turns_;           // look-up only
};

}  // namespace mrclab::analysis
