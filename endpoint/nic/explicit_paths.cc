#include "endpoint/nic/explicit_paths.h"
#include "fabric/topology/build_topology.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "fabric/topology/path.h"

namespace mrclab::endpoint {

ExplicitPaths::ExplicitPaths(ExplicitPathsConfig config) : config_(std::move(config)) {
  if (config_.planes.empty() || config_.planes.size() > kMaxPlanes) {
    throw std::invalid_argument("an endpoint has 1 to 16 planes, this one " +
                                std::to_string(config_.planes.size()));
  }
  if (config_.local == config_.remote) {
    throw std::invalid_argument("both ends have the address " + to_string(config_.local));
  }
  if (config_.self > 1) throw std::invalid_argument("an end is host 0 or host 1");
  for (ExplicitPlane& plane : config_.planes) {
    if (plane.carriers.empty()) plane.carriers.push_back(config_.remote);
  }
}

Ipv6Address ExplicitPaths::address(uint32_t host) const {
  return host == config_.self ? config_.local : config_.remote;
}

std::optional<uint32_t> ExplicitPaths::host_of(const Ipv6Address& address) const {
  if (address == config_.local) return config_.self;
  if (address == config_.remote) return 1 - config_.self;
  return std::nullopt;
}

PathHeaders ExplicitPaths::headers(uint32_t, EntropyValue ev) const {
  const Path path = path_of(ev).value_or(Path{});
  if (path.plane >= config_.planes.size()) return {};  // the carrier :: goes nowhere
  const ExplicitPlane& plane = config_.planes[path.plane];
  const size_t place = path.uplink == kT0LocalUplink ? 0 : path.uplink % plane.carriers.size();
  return {Encapsulation::kSrv6, plane.source_mac, plane.next_hop_mac, config_.local,
          plane.carriers[place]};
}

bool ExplicitPaths::accepts(uint32_t port, const Ipv6Address& outer_destination) const {
  if (outer_destination == config_.local) return true;
  if (port >= config_.planes.size()) return false;
  const auto& accepted = config_.planes[port].accepted;
  return std::find(accepted.begin(), accepted.end(), outer_destination) != accepted.end();
}

Topology plain_topology(const PlainModel& model) {
  FabricShape shape;
  shape.name = "plain";
  shape.planes = model.planes;
  shape.pmtu = model.pmtu;
  shape.dscps = model.dscps;
  // One path per plane: both ends on one T0. Else two T0s and as many T1s as values.
  const bool several = model.evs_per_plane > 1;
  shape.t0 = several ? 2 : 1;
  shape.t1 = several ? model.evs_per_plane : 0;
  shape.hosts_per_t0 = several ? 1 : 2;
  shape.host_rate = shape.fabric_rate = model.port_rate;
  shape.propagation = shape.switch_latency = shape.host_latency = FabricTime::zero();
  shape.links_per_optic = 0;
  Topology topology = build_topology(shape);
  topology.base_rtt = model.base_rtt;
  return topology;
}

}  // namespace mrclab::endpoint
