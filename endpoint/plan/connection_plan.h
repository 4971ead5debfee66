#pragma once
// Every queue pair and memory region of a scenario, computed from the workloads, the topology's
// names and the seed. Each host computes the same plan, so hosts exchange nothing before fabric
// time starts.

#include <cstdint>
#include <optional>
#include <vector>

#include "endpoint/base/memory_region.h"
#include "endpoint/base/transport_profile.h"
#include "endpoint/workload/workload_spec.h"
#include "fabric/base/ids.h"
#include "fabric/base/units.h"
#include "fabric/topology/topology.h"

namespace mrclab::endpoint {

/// One end of a connection.
struct EndPlan {
  uint32_t host = 0;
  Qpn qpn;
  Psn first_psn;  ///< first PSN that this end sends
};

/// A connected pair of queue pairs.
struct ConnectionPlan {
  uint32_t workload = 0;                   ///< index in the scenario's list
  uint32_t number = 0;                     ///< of all connections of the scenario
  std::optional<Routing> routing;          ///< routing of the workload; empty: the fabric's
  std::optional<TransportKind> transport;  ///< of the workload; empty: the scenario's
  uint32_t queue = 0;    ///< which of the queue pairs between these two in this workload
  uint32_t attempt = 0;  ///< of a job, in the order of JobRecovery::later; 0: the first
  bool control =
      false;  ///< words of a job's launcher and its hosts (endpoint/launch/job_agent.h); `queue` is the line
  EndPlan initiator;
  EndPlan acceptor;
  RegionPlan region;                   ///< memory of the acceptor that the initiator writes to
  std::optional<RegionPlan> way_back;  ///< memory of the initiator that the acceptor writes to
  Bytes in_flight;  ///< bytes of one queue pair that the path has room for: size of a stream's ring
};

/// The most bytes that one queue pair may have in flight on the longest path: the largest window
/// (1.5 x line rate x base RTT, UEC p. 390), and no more than its range of full packets.
Bytes most_in_flight(const Topology& topology, uint32_t max_psn_range);

/// All connections of a scenario, in the same order on every host. Throws std::invalid_argument if
/// a workload names a host that the topology does not have, or a host would have over 4,000 QPs.
std::vector<ConnectionPlan> plan_connections(const Topology& topology,
                                             const std::vector<WorkloadSpec>& workloads,
                                             uint64_t seed,
                                             uint32_t max_psn_range = kDefaultPsnRange);

}  // namespace mrclab::endpoint
