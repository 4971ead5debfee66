#pragma once
// What the kernel of one node needs: addresses, neighbours and routes, computed from the topology.
// Pure; bring_up.cc carries it out, and puts a port's part back when its link comes up again (the
// kernel forgets routes and neighbours of an interface that is set down).
//
//   every port    neighbour fe80::1 = the other end, so that no node ever asks on the wire
//   host          fd00:<row>::<host> on lo
//     port pN     5f00:0:fNdd::/48 End.DT6            ordinary traffic for this host
//     always      5f00:0::/32 blackhole               MRC itself: e uSIDs, never answered
//     tables 100, 101                                 for local programs; for what comes out of sr1
//     port pN     5f00:0:2N00::/40 via fe80::1        both: carriers into plane N (full plan: /37); with
//                                                     `segments: adjacency` 5f00:0:aN00::/40 as well
//     always      fd00::/16 via fe80::1 on sr0        100: into the loop sr0 - sr1, whose MTU
//                                                     leaves room for the outer header
//     other host  fd00:<row>::<host>/128              101: encap.red over each port
//                                                     (ordinary_paths.h)
//     always      fd00::/16 unreachable               101
//   kernel switch 5f00:0:<own>::/48 End next-csid on sr0, 5f00:0:<next>::/48 via fe80::1 per port,
//                 5f00:0::/32 blackhole. With `segments: adjacency` per port also
//                 fd00:ffff::<port + 1>/128 via fe80::1 and 5f00:0:<uA>::/48 End.X next-csid to it,
//                 with `decap: leaf` 5f00:0:<own>::/128 End.DT6 and fd00:<row>::<host>/128 per host
//     routing: fare  per port to a host fd00:<row>::<host>/128, per port to a switch the address of that
//                 link, fd01::<link>:0:1 or 2, and fe80::8000:<link>:0:1 or 2, by which speakers speak;
//                 theirs are the other routes to hosts

#include <string>
#include <vector>

#include "fabric/topology/path.h"
#include "fabric/topology/topology.h"
#include "netio/kernel/namespace.h"
#include "netio/kernel/route.h"

namespace mrclab::lab {

/// Do all such switches share one namespace? Open vSwitch's userspace datapath needs every port in
/// the namespace of its daemon.
constexpr bool shares_namespace(const NodeSite& site) {
  return site.forwarding == Forwarding::kOvs;
}

/// What a port's interface is called in its namespace: "d4", in a shared one "p2t0-1d4".
std::string device_of(const Topology& topology, PortRef port);

/// What depends on one port being up.
struct PortPlan {
  std::string interface;
  MacAddress peer_mac{};
  std::vector<netio::Ipv6Prefix> addresses = {};
  std::vector<Ipv6Address> neighbours = {};  ///< addresses of the other end beside other_end()
  std::vector<netio::Route> routes = {};
};

struct NodePlan {
  netio::Sysctls sysctls;
  bool ipv6 = false;        ///< false: nothing below applies
  bool needs_stub = false;  ///< an interface pair sr0/sr1 that never goes down
  uint32_t stub_mtu = 0;
  std::vector<netio::Ipv6Prefix> loopback_addresses;
  std::vector<netio::RouteRule> rules;  ///< the first that matches counts
  std::vector<netio::Route> fixed_routes;
  std::vector<PortPlan> ports;  ///< by PortId
  /// A host's routes to the others, by host number. The entry of the host itself has no ways.
  std::vector<netio::Route> peer_routes;
};

/// The link-local address of a port's other end.
Ipv6Address other_end();
/// Name of the interface that carries a kernel switch's own uSID: a route dies with its interface,
/// so this one is no port. Ordinary traffic of a host leaves by it and comes back by its peer.
inline constexpr const char* kStubInterface = "sr0";
inline constexpr const char* kStubPeer = "sr1";
inline constexpr MacAddress kStubMac{0x02, 0x6f, 0, 0, 0, 0};  // no port has such an address
inline constexpr MacAddress kStubPeerMac{0x02, 0x6f, 0, 0, 0, 1};
/// Room for the biggest frame of ours with its time trailer, behind the Ethernet header.
uint32_t port_mtu();

/// The link-local address of a port, by which speakers that are not ours name it as a next hop.
Ipv6Address speaker_link_local(const Topology& topology, PortRef port);

/// The route of ordinary traffic between two hosts, with one way for each
/// path. A flow takes one way.
netio::Route ordinary_route(const Topology& topology, uint32_t from, uint32_t to,
                            const std::vector<Path>& paths);

/// The route of a switch of the kernel's for a uSID out of a port: where it
/// leads as built, or elsewhere.
netio::Route switch_route(const Topology& topology, NodeId node, Usid usid, PortId port);

NodePlan plan_node(const Topology& topology, NodeId node);

}  // namespace mrclab::lab
