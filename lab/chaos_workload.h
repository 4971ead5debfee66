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
/// together. Each of them leaves room at every host: of a queue that overflows without trimming, its
/// senders learn nothing but losses, which are what a dead path looks like.
std::vector<endpoint::WorkloadSpec> draw_workload(faults::Draws& draws, const Topology& topology,
                                                  FabricTime end, bool trimming);
inline constexpr uint64_t kChaosPackets = 80'000;
/// Of a host's line rate, our choice: with trimming what each workload may fill, without it what all
/// of them together may.
inline constexpr Probability kRoom{950'000'000}, kRoomUntrimmed{800'000'000};

/// The profile `lab`, each of some options switched on or not: swarm style, as with the faults.
endpoint::TransportChoice draw_transport(faults::Draws& draws, const Topology& topology);

/// Does any of them send only as fast as it is answered?
bool has_closed_loop(const std::vector<endpoint::WorkloadSpec>& workload);

/// The numbers of the hosts that take part, ascending.
std::vector<uint32_t> hosts_of(const std::vector<endpoint::WorkloadSpec>& workload);

}  // namespace mrclab::lab
