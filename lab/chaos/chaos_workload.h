#pragma once
// Workloads out of a seed, small enough that a run of them is about a second of work for one core.

#include <map>
#include <vector>

#include "endpoint/base/transport_profile.h"
#include "endpoint/workload/workload_spec.h"
#include "fabric/topology/topology.h"
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

/// The same for RoCE, each connection with so many queue pairs; `beside_mrc`: the first of two is MRC's.
std::vector<endpoint::WorkloadSpec> draw_roce_workload(faults::Draws& draws,
                                                       const Topology& topology, FabricTime end,
                                                       uint32_t qps, bool beside_mrc);
/// The share of a host's line rate that RoCE may fill so that every path has room (our choice): a queue pair
/// has one port, and all hosts of a T0 may have their paths over one uplink.
Probability roce_room(const Topology& topology, uint32_t qps);

/// What open loops offer each host, in parts of its line rate: Probability::kOne is all of it, and two
/// workloads may offer more.
std::map<uint32_t, uint64_t> offered_load(const std::vector<endpoint::WorkloadSpec>& workload);

/// Can every host catch up after the faults? Not if it is offered more
/// than it can take. With NSCC the excess waits at the senders; a fixed window keeps it in the
/// network, in a queue that trims, which must drain first.
bool can_catch_up(const std::vector<endpoint::WorkloadSpec>& workload,
                  const endpoint::TransportProfile& profile, const Topology& topology);
/// The share of a host's capacity that is offered with a fixed window: half the planes gone for 32
/// RTT (kFaultRttsMax) are made up for in 21 RTT.
inline constexpr Probability kRoomOfFixedWindow{700'000'000};

/// Is one of them a closed loop, which sends only as fast as it is answered?
bool has_closed_loop(const std::vector<endpoint::WorkloadSpec>& workload);

/// The numbers of the hosts that take part, ascending.
std::vector<uint32_t> hosts_of(const std::vector<endpoint::WorkloadSpec>& workload);

}  // namespace mrclab::lab
