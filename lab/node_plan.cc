#include "lab/node_plan.h"

#include "fabric/byte_order.h"
#include "fabric/frame.h"
#include "fabric/headers.h"
#include "fabric/routes.h"

namespace mrclab::lab {
namespace {

using netio::Ipv6Prefix;
using netio::Route;

/// Outer IPv6 packets of the kernel must fit the frame buffers of our switches.
constexpr uint32_t kOrdinaryMtu = kFrameCapacity - kEthernetBytes;

Ipv6Prefix block_prefix() {
  Ipv6Prefix prefix{{}, kUsidBlockBits};
  store_be<uint32_t>(prefix.address.data(), kUsidBlock);
  return prefix;
}

Ipv6Prefix usid_prefix(Usid usid, uint8_t bits = kUsidBits) {
  Ipv6Prefix prefix = block_prefix();
  store_be<uint16_t>(prefix.address.data() + 4, usid.value);
  prefix.length = static_cast<uint8_t>(kUsidBlockBits + bits);
  return prefix;
}

Route blackhole_block() {
  Route route;
  route.destination = block_prefix();
  route.blackhole = true;
  return route;
}

Route route_via_peer(const Port& port, const Ipv6Prefix& destination) {
  Route route;
  route.destination = destination;
  route.dev = port.name;
  route.via = other_end();
  return route;
}

Route route_with(const std::string& dev, const Ipv6Prefix& destination,
                 const netio::RouteAction& action) {
  Route route;
  route.destination = destination;
  route.dev = dev;
  route.action = action;
  return route;
}

std::vector<PortPlan> port_plans(const Topology& topology, const NodeSite& site) {
  std::vector<PortPlan> ports;
  for (uint32_t i = 0; i < site.ports.size(); ++i) {
    const MacAddress& peer = topology.port(site.ports[i].peer).mac;
    ports.push_back({device_of(topology, {site.id, PortId{i}}), peer, {}});
  }
  return ports;
}

NodePlan plan_host(const Topology& topology, const NodeSite& site) {
  NodePlan plan;
  plan.sysctls = netio::host_sysctls();
  plan.ipv6 = true;
  plan.loopback_addresses = {{host_address(topology, site.index), 128}};
  plan.fixed_routes = {blackhole_block()};
  plan.ports = port_plans(topology, site);
  for (uint32_t p = 0; p < site.ports.size(); ++p) {
    const Port& port = site.ports[p];
    const Usid own =
        topology.usids.make(UsidRole::kHostKernel, p, topology.host_downlink(site.index));
    std::vector<Route>& routes = plan.ports[p].routes;
    routes.push_back(route_via_peer(port, usid_prefix(topology.usids.make(UsidRole::kT0, p, 0),
                                                      topology.usids.role_and_plane_bits())));
    routes.push_back(route_with(port.name, usid_prefix(own), netio::EndDt6{}));
  }
  for (uint32_t other = 0; other < topology.host_count(); ++other) {
    if (other == site.index) continue;
    const Path path = ordinary_path(topology, site.index, other);
    const netio::EncapRed encap{
        make_carrier(topology, site.index, other, path, UsidRole::kHostKernel)};
    PortPlan& port = plan.ports[path.plane];
    Route route = route_with(port.interface, {host_address(topology, other), 128}, encap);
    route.mtu = kOrdinaryMtu;
    port.routes.push_back(std::move(route));
  }
  return plan;
}

NodePlan plan_kernel_switch(const Topology& topology, const NodeSite& site) {
  NodePlan plan;
  plan.sysctls = netio::forwarding_sysctls();
  plan.ipv6 = true;
  plan.needs_stub = true;
  const UsidRole role = site.role == NodeRole::kT0 ? UsidRole::kT0 : UsidRole::kT1;
  plan.fixed_routes = {
      blackhole_block(),
      route_with(kStubInterface, usid_prefix(topology.usids.make(role, site.plane, site.index)),
                 netio::EndNextCsid{kUsidBlockBits, kUsidBits})};
  plan.ports = port_plans(topology, site);
  for (uint32_t p = 0; p < site.ports.size(); ++p) {
    for (const Usid usid : usids_behind(topology, {site.id, PortId{p}})) {
      plan.ports[p].routes.push_back(route_via_peer(site.ports[p], usid_prefix(usid)));
    }
  }
  return plan;
}

}  // namespace

std::string device_of(const Topology& topology, PortRef ref) {
  const NodeSite& site = topology.node(ref.node);
  const std::string& port = topology.port(ref).name;
  if (!shares_namespace(site)) return port;
  std::string name = site.name + port;  // 15 characters at most: "p15.t0-255" and "d255"
  std::erase(name, '.');
  return name;
}

Ipv6Address other_end() {
  Ipv6Address address{};
  address[0] = 0xfe;
  address[1] = 0x80;
  address[15] = 1;
  return address;
}

Path ordinary_path(const Topology& topology, uint32_t from, uint32_t to) {
  Path path;
  path.plane = (from + to) % topology.planes;
  if (topology.host_row(from) != topology.host_row(to)) {
    path.uplink = (from ^ to) % topology.t1_per_plane;
  }
  return path;
}

NodePlan plan_node(const Topology& topology, NodeId node) {
  const NodeSite& site = topology.node(node);
  if (site.role == NodeRole::kHost) return plan_host(topology, site);
  if (site.forwarding == Forwarding::kKernel) return plan_kernel_switch(topology, site);
  NodePlan plan;
  plan.sysctls = netio::switch_sysctls();
  plan.ports = port_plans(topology, site);
  return plan;
}

}  // namespace mrclab::lab
