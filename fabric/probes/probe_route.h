#pragma once
// A probe in a fabric: the carrier that takes it there and back, the wires that it crosses, how long it takes when
// nothing else is under way, and what all probes cost.

#include <optional>
#include <string>
#include <vector>

#include "fabric/probes/probe_plan.h"
#include "fabric/topology/topology.h"

namespace mrclab {

ProbeGrid grid_of(const Topology& topology);
/// The outer destination. With `decap: leaf` it ends at the last switch.
Ipv6Address probe_carrier(const Topology& topology, uint32_t host, const Probe& probe);
/// In the order of travel, at most six.
std::vector<WireId> probe_wires(const Topology& topology, uint32_t host, const Probe& probe);
/// From the first bit that leaves to the instant at which the host has it.
FabricTime idle_round_trip(const Topology& topology, uint32_t host, const Probe& probe);

/// A probe that has not come back by then is lost: it meets three queues, each as long as its switch lets it become
/// (1 + 1 + 1 + 1.5 base RTTs where switches trim, 2 each where they drop), and takes one RTT itself. Rounded up.
FabricTime probe_timeout(const Topology& topology);
inline FabricTime probe_period(const Topology& topology) {
  return topology.mapper.period.at(topology.base_rtt);
}

/// Of all agents together.
uint64_t probes_a_period(const Topology& topology);
/// The most that the agents' probes may take of any port: 0.1 % (our choice; a millisecond's period takes 0.003 %).
inline constexpr double kMostProbeShare = 0.001;
/// The share of the most loaded port, of hosts and of switches.
double probe_share(const Topology& topology);
/// Why this fabric cannot be probed as its `mapper` wants; empty if it can.
std::optional<std::string> mapper_misfit(const Topology& topology);

}  // namespace mrclab
