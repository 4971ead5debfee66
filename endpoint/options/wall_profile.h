#pragma once
// The transport's timers where fabric time is the wall clock and the machine is a busy one: an
// operating system may stop a process for tens of milliseconds, and that must not look like a loss.

#include "endpoint/base/transport_profile.h"

namespace mrclab::endpoint {

/// Floors, our choice: two time slices of Linux's scheduler are 2 x 4 ms; a process that shares two
/// cores with four others waits up to 20 ms; the ACK timeout is what TCP takes as its smallest (200 ms)
/// and a quarter. Above them the profile "lab" holds: multiples of the topology's base RTT.
inline constexpr FabricTime kWallReorderWindow = FabricTime::from_ms(10);
inline constexpr FabricTime kWallTailProbe = FabricTime::from_ms(50);
inline constexpr FabricTime kWallAckTimeout = FabricTime::from_ms(250);
inline constexpr FabricTime kWallProbeInterval = FabricTime::from_ms(20);
/// Base RTT if the user gives none: several times what two processes over a veth need.
inline constexpr FabricTime kWallBaseRtt = FabricTime::from_ms(1);

/// With all retries (7 linear, 3 exponential) a dead network is reported after about 5 s.
TransportProfile wall_profile(const Topology& topology);

}  // namespace mrclab::endpoint
