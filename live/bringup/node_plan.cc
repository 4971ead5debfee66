#include "live/bringup/node_plan.h"

#include "fabric/base/byte_order.h"
#include "fabric/packet/frame.h"
#include "fabric/packet/headers.h"
#include "fabric/topology/routes.h"
#include "live/bringup/ordinary_paths.h"

namespace mrclab::lab {
namespace {

using netio::Ipv6Prefix;
using netio::Route;

/// Outer IPv6 packets of the kernel must fit the frame buffers of our switches.
constexpr uint32_t kOrdinaryMtu = kFrameCapacity - kEthernetBytes;
constexpr uint32_t kOuterHeader = 40;
constexpr uint32_t kFromPrograms = 100, kFromStub = 101;  // a host's routing tables
constexpr uint32_t kFirstMetric = 1024;                   // the kernel's default (IP6_RT_PRIO_USER)

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
  route.end = netio::RouteEnd::kBlackhole;
  return route;
}

Route route_via_peer(const Port& port, const Ipv6Prefix& destination) {
  Route route;
  route.destination = destination;
  route.dev = port.name();
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

/// The carriers that start in the switch at the other end: in regular planes those of the whole plane. With
/// `segments: adjacency` the first uSID may be one of that switch's links. Where there are no planes, such a uSID does
/// not show whose link it is: then only hosts with a single port send ordinary traffic by them.
std::vector<Ipv6Prefix> carriers_into(const Topology& topology, const NodeSite& site, PortId port) {
  const UsidLayout& usids = topology.usids;
  const Port& at = site.ports[port.value];
  std::vector<Ipv6Prefix> prefixes;
  const auto add = [&](UsidRole role) {
    const uint32_t plane = topology.has_planes() ? at.plane : 0;
    prefixes.push_back(usid_prefix(usids.make(role, plane, 0), usids.role_and_plane_bits()));
  };
  if (topology.has_planes()) {
    add(UsidRole::kT0);
  } else {
    prefixes.push_back(usid_prefix(topology.node(at.peer.node).usid));
  }
  const bool tells_links = topology.has_planes() || site.ports.size() == 1;
  if (topology.segments == Segments::kAdjacency && tells_links) add(UsidRole::kAdjacency);
  return prefixes;
}

/// fd00:ffff::<port + 1>: an address that no host has.
Ipv6Address next_hop_over(PortId port) {
  Ipv6Address address{};
  store_be<uint32_t>(address.data(), 0xfd00'ffff);
  store_be<uint32_t>(address.data() + 12, port.value + 1);
  return address;
}

std::vector<PortPlan> port_plans(const Topology& topology, const NodeSite& site) {
  std::vector<PortPlan> ports;
  for (uint32_t i = 0; i < site.ports.size(); ++i) {
    const MacAddress& peer = topology.port(site.ports[i].peer).mac;
    ports.push_back({device_of(topology, {site.id, PortId{i}}), peer});
  }
  return ports;
}

/// All addresses of hosts are in fd00::/16.
Route to_all_hosts(uint32_t table) {
  Route route;
  route.destination.address[0] = 0xfd;
  route.destination.length = 16;
  route.table = table;
  return route;
}

/// A lightweight tunnel does not fragment, so a packet of full length would be too long for our
/// switches with its outer header. So the packets of programs first leave by the stub, whose MTU
/// leaves room for that header, and take their way to a port when they come back by its peer.
/// Packets that come in by ports are not forwarded.
void plan_stub(NodePlan& plan) {
  plan.needs_stub = true;
  plan.stub_mtu = kOrdinaryMtu - kOuterHeader;
  plan.rules = {{"lo", kFromPrograms}, {kStubPeer, kFromStub}};
  Route out = to_all_hosts(kFromPrograms);
  out.dev = kStubInterface;
  out.via = other_end();
  Route nowhere = to_all_hosts(kFromStub);
  nowhere.end = netio::RouteEnd::kUnreachable;
  plan.fixed_routes.insert(plan.fixed_routes.end(), {out, nowhere});
}

NodePlan plan_host(const Topology& topology, const NodeSite& site) {
  NodePlan plan;
  plan.sysctls = netio::host_sysctls();
  plan.ipv6 = true;
  plan.loopback_addresses = {{host_address(topology, site.index), 128}};
  plan.fixed_routes = {blackhole_block()};
  plan_stub(plan);
  plan.ports = port_plans(topology, site);
  for (uint32_t p = 0; p < site.ports.size(); ++p) {
    const Port& port = site.ports[p];
    std::vector<Route>& routes = plan.ports[p].routes;
    for (const uint32_t table : {kFromPrograms, kFromStub}) {
      for (const Ipv6Prefix& carriers : carriers_into(topology, site, PortId{p})) {
        routes.push_back(route_via_peer(port, carriers));
        routes.back().table = table;
      }
    }
    routes.push_back(route_with(port.name(), usid_prefix(port.kernel_usid), netio::EndDt6{}));
    // Outside of planes ports may share a switch or the host's uSID. Each port has routes of its
    // own metric, which replace no other port's and stay when that port goes down.
    for (Route& route : routes) route.metric = kFirstMetric + p;
  }
  const DeadParts none(topology);
  for (uint32_t other = 0; other < topology.host_count(); ++other) {
    const bool self = other == site.index;
    plan.peer_routes.push_back(ordinary_route(
        topology, site.index, other,
        self ? std::vector<Path>{} : ordinary_paths(topology, site.index, other, none)));
  }
  return plan;
}

/// The last switch of a carrier strips it (End.DT6 on what has no argument, as the kernel has no
/// USD for uN) and routes what is inside to its hosts.
void plan_leaf_decap(const Topology& topology, const NodeSite& site, NodePlan& plan) {
  constexpr uint32_t kMainTable = 254;
  plan.fixed_routes.push_back(route_with(
      kStubInterface, usid_prefix(site.usid, 128 - kUsidBlockBits), netio::EndDt6{kMainTable}));
  for (uint32_t p = 0; p < site.ports.size(); ++p) {
    const NodeSite& peer = topology.node(site.ports[p].peer.node);
    if (peer.role != NodeRole::kHost) continue;
    plan.ports[p].routes.push_back(
        route_via_peer(site.ports[p], {host_address(topology, peer.index), 128}));
  }
}

constexpr uint8_t kLinkPrefixBits = 112;

/// A switch that learns its routes to hosts beyond its own (live/speakers).
void plan_learning(const Topology& topology, const NodeSite& site, NodePlan& plan) {
  plan.sysctls.push_back({"net/ipv6/fib_multipath_hash_policy", "3"});
  // Addresses, flow label and ports: the entropy of MRC is in the last two.
  plan.sysctls.push_back({"net/ipv6/fib_multipath_hash_fields", "59"});
  Route upwards = to_all_hosts(0);
  upwards.table = Route{}.table;
  for (uint32_t p = 0; p < site.ports.size(); ++p) {
    const Port& port = site.ports[p];
    const NodeSite& peer = topology.node(port.peer.node);
    const PortRef self{site.id, PortId{p}};
    if (peer.role == NodeRole::kHost) {
      // FRR has them as static routes of its own, since it takes any other route of the kernel as usable
      // also where the link has no carrier.
      if (site.speaker != SpeakerProgram::kFrr) {
        plan.ports[p].routes.push_back(
            route_via_peer(port, {host_address(topology, peer.index), 128}));
      }
      continue;
    }
    plan.ports[p].addresses = {{link_address(topology, self), kLinkPrefixBits},
                               {speaker_link_local(topology, self), 64}};
    plan.ports[p].neighbours = {link_address(topology, port.peer),
                                speaker_link_local(topology, port.peer)};
    upwards.ways.push_back({port.name(), other_end()});
  }
  // ExaBGP installs no routes: traffic without a route goes up, by any link.
  if (site.speaker == SpeakerProgram::kExabgp) plan.fixed_routes.push_back(upwards);
}

NodePlan plan_kernel_switch(const Topology& topology, const NodeSite& site) {
  NodePlan plan;
  plan.sysctls = netio::forwarding_sysctls();
  plan.ipv6 = true;
  plan.needs_stub = true;
  plan.stub_mtu = port_mtu();
  plan.fixed_routes = {blackhole_block(),
                       route_with(kStubInterface, usid_prefix(site.usid),
                                  netio::EndNextCsid{kUsidBlockBits, kUsidBits})};
  plan.ports = port_plans(topology, site);
  if (topology.decap == Decap::kLeaf) plan_leaf_decap(topology, site, plan);
  if (topology.routing.is_fare()) plan_learning(topology, site, plan);
  for (uint32_t p = 0; p < site.ports.size(); ++p) {
    for (const Usid usid : usids_behind(topology, {site.id, PortId{p}})) {
      std::vector<Route>& routes = plan.ports[p].routes;
      // End.X looks its next hop up without an interface, so each port has one of its own.
      if (port_of_adjacency(topology, site.id, usid)) {
        routes.push_back(route_via_peer(site.ports[p], {next_hop_over(PortId{p}), 128}));
      }
      routes.push_back(switch_route(topology, site.id, usid, PortId{p}));
    }
  }
  return plan;
}

}  // namespace

std::string device_of(const Topology& topology, PortRef ref) {
  const NodeSite& site = topology.node(ref.node);
  const std::string port = topology.port(ref).name();
  if (!shares_namespace(site)) return port;
  std::string name = site.name + port;  // 15 characters at most: "p15.t0-255" and "d255"
  std::erase(name, '.');
  return name;
}

uint32_t port_mtu() { return kFrameCapacity + kTrailerReserve - kEthernetBytes; }

Ipv6Address other_end() {
  Ipv6Address address{};
  address[0] = 0xfe;
  address[1] = 0x80;
  address[15] = 1;
  return address;
}

Ipv6Address speaker_link_local(const Topology& topology, PortRef port) {
  Ipv6Address address = link_address(topology, port);
  store_be<uint16_t>(address.data(), 0xfe80);
  address[8] |= 0x80;  // or that of link 0 would be other_end()
  return address;
}

Route ordinary_route(const Topology& topology, uint32_t from, uint32_t to,
                     const std::vector<Path>& paths) {
  Route route;
  route.destination = {host_address(topology, to), 128};
  route.table = kFromStub;
  for (const Path path : paths) {
    const netio::EncapRed encap{make_carrier(topology, from, to, path, UsidRole::kHostKernel)};
    const PortRef port{topology.host(from), PortId{path.plane}};
    route.ways.push_back({device_of(topology, port), other_end(), encap});
  }
  return route;
}

netio::Route switch_route(const Topology& topology, NodeId node, Usid usid, PortId port) {
  const Port& out = topology.port({node, port});
  if (!port_of_adjacency(topology, node, usid)) return route_via_peer(out, usid_prefix(usid));
  return route_with(out.name(), usid_prefix(usid),
                    netio::EndXNextCsid{next_hop_over(port), kUsidBlockBits, kUsidBits});
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
