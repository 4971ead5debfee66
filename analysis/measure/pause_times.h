#pragma once
// For which stretches of time RoCE's data stood paused at which port, out of the pause frames that arrived
// there: from one ingress latency after the frame's last bit until what it asked for is over, or a frame lets
// it go on, or the port loses its carrier (by the schedule, as is the rate of the port: quanta are bit
// times of the rate when the frame counts). A frame that is being sent is finished.

#include <span>
#include <vector>

#include "analysis/history/packet_history.h"
#include "fabric/node/effect.h"
#include "fabric/topology/topology.h"

namespace mrclab::analysis {

/// `port` sent none of RoCE's data from `from` to `until`, because its neighbour had asked for that.
struct PausedSpan {
  PortRef port;
  FabricTime from, until;
  FabricTime length() const { return until - from; }
  bool operator==(const PausedSpan&) const = default;
};

class PauseTimes {
 public:
  /// `pauses` in order of time; spans end with the run, at `end`.
  PauseTimes(const Topology& topology, std::span<const PauseSeen> pauses,
             std::span<const ScheduledEffect> schedule, FabricTime end);

  /// In the order in which they begin; at one instant in that of nodes and ports.
  std::span<const PausedSpan> spans() const { return spans_; }
  /// Returns the port's pause that is in force at `t`, or else the last one that ended before `t`; null if the
  /// port was never paused.
  const PausedSpan* last_before(PortRef port, FabricTime t) const;
  /// How long a port stood paused between two instants.
  FabricTime paused(PortRef port, FabricTime from, FabricTime until) const;

 private:
  size_t place_of(PortRef port) const { return first_port_[port.node.value] + port.port.value; }
  std::span<const PausedSpan> spans_at(PortRef port) const {
    return ports_.empty() ? std::span<const PausedSpan>() : ports_[place_of(port)];
  }

  // PauseTimes fills these two only if a switch or host sent a pause: a large fabric has millions of ports.
  std::vector<size_t> first_port_;              // by node
  std::vector<std::vector<PausedSpan>> ports_;  // by place_of(); in order of time
  std::vector<PausedSpan> spans_;
};

}  // namespace mrclab::analysis
