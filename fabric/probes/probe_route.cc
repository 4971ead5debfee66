#include "fabric/probes/probe_route.h"

#include <algorithm>
#include <cstdio>

#include "fabric/base/byte_order.h"
#include "fabric/probes/probe_frame.h"

namespace mrclab {
namespace {

/// T0 and T1 of a probe's way, in turn: T0, T1, T0, ...
std::vector<NodeId> switches_of(const Topology& topology, uint32_t host, const Probe& probe) {
  const NodeId own = topology.t0(probe.plane, topology.host_row(host));
  std::vector<NodeId> switches{own};
  if (probe.kind == ProbeKind::kT0) return switches;
  switches.push_back(topology.t1(probe.plane, probe.uplink));
  if (probe.kind == ProbeKind::kCross) {
    switches.push_back(topology.t0(probe.plane, probe.far_row));
    switches.push_back(topology.t1(probe.plane, probe.back));
  }
  switches.push_back(own);
  return switches;
}

/// The wire between two switches of a plane, which are a T0 and a T1.
WireId wire_between(const Topology& topology, NodeId from, NodeId to) {
  const NodeSite& site = topology.node(from);
  const uint32_t other = topology.node(to).index;
  const uint32_t port = site.role == NodeRole::kT0 ? topology.hosts_per_t0 + other : other;
  return site.ports[port].out;
}

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g %%", share * 100);
  return text;
}

}  // namespace

ProbeGrid grid_of(const Topology& topology) {
  return {topology.planes, topology.t0_per_plane, topology.t1_per_plane, topology.hosts_per_t0};
}

Ipv6Address probe_carrier(const Topology& topology, uint32_t host, const Probe& probe) {
  Ipv6Address carrier{};
  store_be<uint32_t>(carrier.data(), kUsidBlock);
  size_t at = kUsidBlockBits / 8;
  const auto put = [&](Usid usid) {
    store_be<uint16_t>(carrier.data() + at, usid.value);
    at += kUsidBits / 8;
  };
  for (const NodeId node : switches_of(topology, host, probe)) put(topology.node(node).usid);
  if (topology.decap == Decap::kNic) {
    put(topology.port({topology.host(host), PortId{probe.plane}}).nic_usid);
  }
  return carrier;
}

std::vector<WireId> probe_wires(const Topology& topology, uint32_t host, const Probe& probe) {
  const Port& own = topology.port({topology.host(host), PortId{probe.plane}});
  std::vector<WireId> wires{own.out};
  const std::vector<NodeId> switches = switches_of(topology, host, probe);
  for (size_t i = 0; i + 1 < switches.size(); ++i) {
    wires.push_back(wire_between(topology, switches[i], switches[i + 1]));
  }
  wires.push_back(own.in);
  return wires;
}

FabricTime idle_round_trip(const Topology& topology, uint32_t host, const Probe& probe) {
  const Bytes length = wire_length({probe_bytes(topology.mapper.form)});
  FabricTime sum;
  for (const WireId id : probe_wires(topology, host, probe)) {
    const Wire& wire = topology.wire(id);
    sum += serialization_time(length, wire.rate) + wire.propagation +
           topology.ingress_latency(wire.to.node);
  }
  return sum;
}

FabricTime probe_timeout(const Topology& topology) {
  const FabricTime asked = topology.mapper.timeout.at(topology.base_rtt);
  if (asked > FabricTime::zero()) return asked;
  constexpr int64_t kTrimmedRtts = 6, kDroppedRtts = 8;
  return topology.base_rtt * (topology.queues.trim ? kTrimmedRtts : kDroppedRtts);
}

uint64_t probes_a_period(const Topology& topology) {
  const ProbeGrid grid = grid_of(topology);
  uint64_t probes = 0;
  for (uint32_t host = 0; host < topology.host_count(); ++host) {
    probes += probes_of(grid, topology.mapper, host, 0, 0).size() * topology.planes;
  }
  return probes;
}

double probe_share(const Topology& topology) {
  const MapperProfile& mapper = topology.mapper;
  const ProbeGrid grid = grid_of(topology);
  const double bits = static_cast<double>(wire_length({probe_bytes(mapper.form)}).value) * 8;
  const double seconds = static_cast<double>(probe_period(topology).ps()) * 1e-12;
  const auto share = [&](uint32_t probes, BitRate rate) {
    return probes * bits / (seconds * static_cast<double>(rate.bps));
  };
  double most = 0;
  // A link between switches is crossed once each way by its own probe, and by cross probes twice at most.
  const uint32_t between = (mapper.t1 ? 1 : 0) + (mapper.cross ? 2 : 0);
  for (const Wire& wire : topology.all_wires()) {
    const bool of_host = topology.node(wire.from.node).role == NodeRole::kHost ||
                         topology.node(wire.to.node).role == NodeRole::kHost;
    most = std::max(most, share(of_host ? most_probes(grid, mapper) : between, wire.rate));
  }
  return most;
}

std::optional<std::string> mapper_misfit(const Topology& topology) {
  if (!topology.mapper.on) return std::nullopt;
  if (!topology.regular()) return "a mapper in a fabric that is no regular planes";
  if (!topology.carries_time()) return "a mapper where others than our switches forward";
  if (topology.segments != Segments::kNode) return "a mapper where carriers name links";
  if (topology.routing.is_fare()) return "a mapper where switches route by themselves";
  const FabricTime period = probe_period(topology);
  if (period < topology.base_rtt) return "a mapper with a period below the base RTT";
  if (probe_timeout(topology) > period * 64) return "a mapper that waits for 64 periods or more";
  const double share = probe_share(topology);
  if (share <= kMostProbeShare) return std::nullopt;
  return "a mapper whose probes take " + percent(share) + " of a port, more than " +
         percent(kMostProbeShare);
}

}  // namespace mrclab
