#pragma once
// The latency that foreign switches leave unmodelled. In a plane of kernel or Open vSwitch switches a frame spends
// fabric time only where it waits for a rate. So the receiver adds the pipelines and the propagation of the path,
// whose length follows from the hop limit: windows and timers are sized for a round trip that includes them.

#include <cstdint>
#include <span>
#include <vector>

#include "fabric/topology/topology.h"

namespace mrclab::netio {

class UnmodelledLatency {
 public:
  explicit UnmodelledLatency(const Topology& topology);  ///< `topology` outlives this

  /// The time to add for a frame that came in at `port` of a host without carried time. Zero where
  /// a switch of the port's plane is ours, for a frame that is not MRC, and for a hop limit that no
  /// MRC sender's frame can have.
  FabricTime latency_of(const Port& port, std::span<const uint8_t> frame) const;

 private:
  int64_t switches_crossed(std::span<const uint8_t> frame) const;

  const Topology& topology_;
  std::vector<bool> foreign_planes_;  ///< no switch of the plane carries time
};

}  // namespace mrclab::netio
