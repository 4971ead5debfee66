#pragma once
// The modelled time that switches which are not ours take no part in. In a plane of the kernel's or of
// Open vSwitch nothing takes fabric time but what waits for a rate: the receiver makes up for the
// pipelines and the propagation of the way, whose length the hop limit tells. Windows and timers are sized
// for a round trip that has them.

#include <cstdint>
#include <span>
#include <vector>

#include "fabric/topology.h"

namespace mrclab::netio {

class UntakenTime {
 public:
  explicit UntakenTime(const Topology& topology);  ///< outlives this

  /// Of a frame that came in at `port` of a host without carrying time. Zero where a switch of the port's
  /// plane is ours, and for a frame that is no MRC, or whose hop limit no MRC sender's can have become.
  FabricTime of(const Port& port, std::span<const uint8_t> frame) const;

 private:
  int64_t switches_crossed(std::span<const uint8_t> frame) const;

  const Topology& topology_;
  std::vector<bool> foreign_planes_;  ///< no switch of the plane carries time
};

}  // namespace mrclab::netio
