#pragma once
// What a whole fabric did in each window of fabric time, by switch and by plane, from the counters that switches and
// hosts keep anyway: so it costs nothing while packets pass, and a fabric of any size has one.
//
// Bounded: 8 bytes for each switch and window. Counters that begin anew, as those of a switch that reboots, count from 0.
// One thread.

#include <cstdint>
#include <span>
#include <vector>

#include "fabric/topology/topology.h"

namespace mrclab::lab {

class FabricTally {
 public:
  static constexpr size_t kMaxWindows = 256;
  static constexpr uint8_t kFullLoad = 255, kTrimQueue = 200;

  /// What a switch has counted since it began.
  struct SwitchCount {
    uint64_t sent_bytes = 0;  ///< by all of its ports, as on the wire
    uint64_t lost = 0;  ///< packets dropped at it, on wires to it, and on wires from it to hosts
    uint64_t trimmed = 0, marked = 0;
    double queue =
        0;  ///< of the port where it is longest now, as a share of what is trimmed or dropped from
  };
  /// What a switch did in a window.
  struct Cell {
    uint8_t load = 0;   ///< of all of its ports, 255: line rate
    uint8_t queue = 0;  ///< the longest at the window's end, 200: packets are trimmed from there on
    uint16_t lost = 0, trimmed = 0, marked = 0;  ///< packets; 65,535: so many or more
    bool operator==(const Cell&) const = default;
  };
  struct PlaneCount {
    uint64_t received = 0;  ///< bytes of payload that hosts placed in memory for the first time
    uint64_t lost = 0, trimmed = 0, marked = 0;
    bool operator==(const PlaneCount&) const = default;
  };

  /// `topology` outlives it. Windows of this length.
  FabricTally(const Topology& topology, FabricTime window);

  FabricTime window() const { return window_; }
  /// Windows that are over.
  size_t windows() const { return again_.size(); }
  /// When the next one is to be counted.
  FabricTime next_end() const { return window_ * static_cast<int64_t>(windows() + 1); }

  // At the end of a window, of every node that has had something to do, and then close_window().
  void count_switch(NodeId node, const SwitchCount& since_begin);
  /// `received`: bytes of payload by plane.
  void count_host(std::span<const uint64_t> received, uint64_t retransmitted);
  void close_window();

  size_t switches() const { return switches_; }
  /// By switch, in the order of the topology's nodes: plane by plane T0s, T1s, T2s.
  std::span<const Cell> cells(size_t window) const {
    return std::span(cells_).subspan(window * switches_, switches_);
  }
  std::span<const PlaneCount> planes(size_t window) const {
    return std::span(planes_).subspan(window * topology_.planes, topology_.planes);
  }
  /// Packets that hosts sent again in a window.
  uint64_t again(size_t window) const { return again_[window]; }
  /// What a switch had counted when the last window ended.
  const SwitchCount& counted(NodeId node) const {
    return before_[node.value - topology_.host_count()];
  }

 private:
  const Topology& topology_;
  FabricTime window_;
  size_t switches_;
  std::vector<double> full_;               // bytes that all ports of a switch can send in a window
  std::vector<SwitchCount> before_;        // by switch
  std::vector<uint64_t> received_before_;  // by plane
  std::vector<Cell> cells_;
  std::vector<PlaneCount> planes_;
  std::vector<uint64_t> again_;
  // Of the window that is being counted.
  std::vector<Cell> new_cells_;
  std::vector<PlaneCount> new_planes_;
  std::vector<uint64_t> new_received_;
  uint64_t new_again_ = 0, again_before_ = 0;
};

}  // namespace mrclab::lab
