#include "fabric/paths/ecmp.h"

#include <cassert>
#include <utility>

#include "fabric/base/byte_order.h"
#include "fabric/base/random.h"
#include "fabric/packet/headers.h"
#include "fabric/topology/graph_paths.h"

namespace mrclab {

uint64_t ecmp_hash(const FlowKey& key, uint64_t seed) {
  uint64_t h = mix64(seed);
  for (const Ipv6Address* address : {&key.source, &key.destination}) {
    h = mix64(h ^ load_be<uint64_t>(address->data()));
    h = mix64(h ^ load_be<uint64_t>(address->data() + 8));
  }
  h = mix64(h ^ (uint64_t{key.flow_label} << 8 | key.protocol));
  return mix64(h ^ (uint64_t{key.source_port} << 16 | key.destination_port));
}

uint64_t ecmp_seed(const Topology& topology, NodeId self) {
  if (topology.routing.same_seed) return 0;
  const NodeSite& site = topology.node(self);
  return uint64_t{static_cast<uint32_t>(site.role)} << 48 | uint64_t{site.plane} << 32 | site.index;
}

EcmpGroup::EcmpGroup(std::vector<PortId> members, bool resilient)
    : members_(std::move(members)),
      up_(members_.size(), true),
      live_(members_),
      resilient_(resilient) {
  fill_table();
}

void EcmpGroup::set_live(PortId port, bool live) {
  const auto place = std::find(members_.begin(), members_.end(), port) - members_.begin();
  if (static_cast<size_t>(place) == members_.size() || up_[place] == live) return;
  live_.clear();
  for (size_t i = 0; i < members_.size(); ++i) {
    if (members_[i] == port) up_[i] = live;
    if (up_[i]) live_.push_back(members_[i]);
  }
  fill_table();
}

/// A bucket's home is its number modulo the members. If its home is down, it tries the other
/// members in an order of its own; neighbouring buckets of one home try different members first. So
/// when a member leaves, only its own buckets move, and where they go depends only on which members
/// are live.
void EcmpGroup::fill_table() {
  table_.clear();
  if (!resilient_ || live_.empty()) return;
  const size_t members = members_.size();
  std::vector<uint16_t> place_of(members);
  uint16_t place = 0;
  for (size_t i = 0; i < members; ++i) place_of[i] = up_[i] ? place++ : 0;
  for (size_t bucket = 0; bucket < kBuckets; ++bucket) {
    const size_t home = bucket % members;
    size_t member = home;
    for (size_t turn = bucket / members; !up_[member]; ++turn) {
      member = (home + 1 + turn % (members - 1)) % members;
    }
    table_.push_back(place_of[member]);
  }
}

FlowKey flow_of(const Topology& topology, uint32_t source, uint32_t destination, EntropyValue ev) {
  const std::optional<Path> path = path_of(ev);
  FlowKey key;
  key.protocol = kNextHeaderUdp;
  key.source_port = source_port_of(ev);
  key.destination_port = kMrcUdpPort;
  if (path && path->chosen == Chosen::kByHashIpv4) {
    key.source = host_address_ipv4(source);
    key.destination = host_address_ipv4(destination);
  } else {
    key.source = host_address(topology, source);
    key.destination = host_address(topology, destination);
    key.flow_label = flow_label_of(ev);
  }
  return key;
}

std::vector<PortId> uplinks_of(const Topology& topology, NodeId t0) {
  const NodeSite& site = topology.node(t0);
  std::vector<PortId> uplinks;
  if (site.role != NodeRole::kT0 || !topology.regular()) return uplinks;
  for (uint32_t i = 0; i < site.ports.size(); ++i) {
    if (topology.node(topology.planned_peer({site.id, PortId{i}}).node).role == NodeRole::kT1)
      uplinks.push_back(PortId{i});
  }
  return uplinks;
}

Chosen chosen_by(const Topology& topology, std::optional<Routing> workload) {
  if (workload.value_or(topology.routing.by_default) == Routing::kSrv6) return Chosen::kByName;
  return topology.routing.underlay == Underlay::kIpv4 ? Chosen::kByHashIpv4 : Chosen::kByHashIpv6;
}

namespace {

/// Switch by switch: each chooses by its own seed among the ports of its shortest ways.
std::optional<Path> hashed_path(const Topology& topology, uint32_t source, uint32_t destination,
                                Path path) {
  if (!topology.planes_apart || topology.routing.is_fare() || source == destination) {
    return std::nullopt;
  }
  const FlowKey key = flow_of(topology, source, destination, ev_of(path));
  std::vector<PortRef> exits{{topology.host(source), PortId{path.plane}}};
  for (;;) {
    const NodeSite& site = topology.node(topology.port(exits.back()).peer.node);
    if (site.role == NodeRole::kHost) return topology.graph->along(destination, exits);
    if (site.forwarding != Forwarding::kSwitchd) return std::nullopt;
    const std::vector<PortId> ports = topology.graph->next_hops(site.id, destination);
    const uint64_t hash = ecmp_hash(key, ecmp_seed(topology, site.id));
    const uint64_t bucket = topology.routing.resilient ? hash % EcmpGroup::kBuckets : hash;
    exits.push_back({site.id, ports[bucket % ports.size()]});  // one link nearer each time
  }
}

}  // namespace

std::optional<Path> path_between(const Topology& topology, uint32_t source, uint32_t destination,
                                 Path path) {
  if (source >= topology.host_count() || destination >= topology.host_count() ||
      path.plane >= topology.planes) {
    return std::nullopt;
  }
  if (path.named()) return path;
  if (!topology.regular()) return hashed_path(topology, source, destination, path);
  if (topology.host_row(source) == topology.host_row(destination)) {
    return Path{path.plane, kT0LocalUplink};
  }
  if (topology.t1_per_plane == 0 || topology.routing.is_fare()) return std::nullopt;
  const NodeId t0 = topology.t0(path.plane, topology.host_row(source));
  if (topology.node(t0).forwarding != Forwarding::kSwitchd) return std::nullopt;
  const uint64_t hash =
      ecmp_hash(flow_of(topology, source, destination, ev_of(path)), ecmp_seed(topology, t0));
  const uint32_t members = topology.t1_per_plane;
  const uint64_t bucket = topology.routing.resilient ? hash % EcmpGroup::kBuckets : hash;
  return Path{path.plane, static_cast<uint32_t>(bucket % members)};
}

}  // namespace mrclab
