#pragma once
// The two sides of a fabric: in most fabrics each wire joins a node of one side and one of the other (hosts and T1s
// form one, T0s the other). A frame's effect then needs two wires to return to its own side, so each side can run
// twice as far ahead at a time as in a fabric whose nodes are all of one side.

#include <array>
#include <cstdint>
#include <vector>

#include "fabric/topology/topology.h"

namespace mrclab::lab {

struct Bipartition {
  std::vector<uint8_t> of;  ///< by node: 0 or 1. All are 0 where a cycle has an odd number of wires
  /// The least lookahead of the wires from one side to another; never: there is no such wire.
  std::array<std::array<FabricTime, 2>, 2> lookahead;

  /// The earliest instant of an event that may still come to `side` from elsewhere. Its own earliest event is at
  /// `own`, that of the other side at `other`; both may be never.
  FabricTime horizon(uint8_t side, FabricTime own, FabricTime other) const;
  /// The most that one side can be ahead of its own earliest event.
  FabricTime longest_window() const;
  /// Windows of the longest kind in `time`: where there are two sides, each of them needs its own.
  double windows_in(FabricTime time) const;
};

Bipartition bipartition(const Topology& topology);

}  // namespace mrclab::lab
