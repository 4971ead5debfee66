#include "fabric/topology/fare.h"

namespace mrclab {
namespace {

constexpr uint32_t kFirstPrivateAs = 4'200'000'000;
/// Where there are T2s, each pod's T1s are one AS, and a plane's T2s another (RFC 7938 section 5.2.1).
constexpr uint32_t kPods = 1'000, kPodsOfPlane = 1'000;
constexpr uint32_t kT0s = 100'000, kT0sOfPlane = 10'000, kFirstHost = 1'000'000;
constexpr uint32_t kRouterIds = 10u << 24;
/// Three times what 12 hosts (51 us) and 256 (545 us) were measured to take.
constexpr FabricTime kHardwareStart = FabricTime::from_us(100),
                     kHardwareHost = FabricTime::from_us(10);

}  // namespace

uint32_t as_number(const Topology& topology, NodeId node) {
  const NodeSite& site = topology.node(node);
  if (site.role == NodeRole::kHost) return kFirstPrivateAs + kFirstHost + site.index;
  if (site.role == NodeRole::kT1 && topology.t2_per_plane > 0) {
    return kFirstPrivateAs + kPods + site.plane * kPodsOfPlane + site.pod;
  }
  if (site.role != NodeRole::kT0) return kFirstPrivateAs + site.plane;
  return kFirstPrivateAs + kT0s + site.plane * kT0sOfPlane + site.index;
}

uint32_t router_id(NodeId node) { return kRouterIds + node.value + 1; }

NicRoutes nic_routes(const Topology& topology) {
  if (!topology.routing.is_fare()) return NicRoutes::kOff;
  const bool several = topology.planes > 1;
  return topology.routing.fare.nics.value_or(several ? NicRoutes::kAll : NicRoutes::kOff);
}

FabricTime fare_ready(const Topology& topology) {
  const FareChoice& fare = topology.routing.fare;
  if (fare.ready != FabricTime::zero()) return fare.ready;
  // Handshake, OPEN, KEEPALIVE and two UPDATEs are some round trips of one link.
  const FabricTime trips = topology.base_rtt * 10;
  switch (fare.delays) {
    case FareDelays::kIdeal: return trips;
    case FareDelays::kHardware:
      return trips + kHardwareStart + kHardwareHost * topology.host_count();
    case FareDelays::kFrr: break;
  }
  return trips + FabricTime::from_ms(5'000);
}

}  // namespace mrclab
