#pragma once
// Workloads and transport options out of a seed, small enough that a run of them is about a second
// of work for one core.

#include <vector>

#include "endpoint/transport_choice.h"
#include "endpoint/workload_spec.h"
#include "fabric/topology.h"
#include "faults/draws.h"

namespace mrclab::lab {

/// One or two workloads that go on until `end` and send at most about kChaosPackets data packets
/// together. They leave room at every host, because a queue that overflows without `trimming` shows
/// its senders only losses, as a dead path does.
std::vector<endpoint::WorkloadSpec> draw_workload(faults::Draws& draws, const Topology& topology,
                                                  FabricTime end, bool trimming);
inline constexpr uint64_t kChaosPackets = 80'000;
/// The share of a host's line rate that may be filled (our choice): with trimming by each workload,
/// without it by all of them together.
inline constexpr Probability kRoom{950'000'000}, kRoomUntrimmed{800'000'000};

/// The profile `lab`, each of some options switched on or not: swarm style, as with the faults.
endpoint::TransportChoice draw_transport(faults::Draws& draws, const Topology& topology);

/// Is one of them a closed loop, which sends only as fast as it is answered?
bool has_closed_loop(const std::vector<endpoint::WorkloadSpec>& workload);

/// The numbers of the hosts that take part, ascending.
std::vector<uint32_t> hosts_of(const std::vector<endpoint::WorkloadSpec>& workload);

}  // namespace mrclab::lab
