#pragma once
// Fabric time that switches which are not ours do not take. In a plane of the kernel's or of Open
// vSwitch only waiting for a rate takes fabric time: the receiver adds the pipelines and the
// propagation of the path, whose length the hop limit tells. Windows and timers are sized for a
// round trip with these times.

#include <cstdint>
#include <span>
#include <vector>

#include "fabric/topology/topology.h"

namespace mrclab::netio {

class UntakenTime {
 public:
  explicit UntakenTime(const Topology& topology);  ///< `topology` outlives this

  /// The time to add for a frame that came in at `port` of a host without carried time. Zero where
  /// a switch of the port's plane is ours, for a frame that is not MRC, and for a hop limit that no
  /// MRC sender's frame can have.
  FabricTime of(const Port& port, std::span<const uint8_t> frame) const;

 private:
  int64_t switches_crossed(std::span<const uint8_t> frame) const;

  const Topology& topology_;
  std::vector<bool> foreign_planes_;  ///< no switch of the plane carries time
};

}  // namespace mrclab::netio
