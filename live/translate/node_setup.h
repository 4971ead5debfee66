#pragma once
// What a node needs there, as sysctls and commands: the plan that the lab itself carries out (bringup/node_plan.h),
// with two differences. Interfaces have that lab's names, and a next hop is the other end's address on the link
// (fabric/topology/path.h, link_address), which is asked for on the wire: other nodes may have MAC addresses of their own.

#include <string>
#include <utility>
#include <vector>

#include "live/bringup/node_plan.h"
#include "live/translate/exported_fabric.h"

namespace mrclab::lab {

struct NodeSetup {
  /// "net.ipv6.conf.all.forwarding", "1". Their order does not matter.
  std::vector<std::pair<std::string, std::string>> sysctls;
  /// In this order; each is a line for sh, and none holds a quote, a dollar sign or a backslash.
  std::vector<std::string> commands;
};

/// `node` must be a host, or a switch that the kernel forwards for.
NodeSetup node_setup(const ExportedFabric& fabric, NodeId node);

/// A route of the plan with that lab's interfaces and next hops.
netio::Route exported_route(const ExportedFabric& fabric, NodeId node, netio::Route route);
/// "ip -6 route replace ..."
std::string route_command(const netio::Route& route);
/// Is it a route that any router can have: a next hop behind a port, without SRv6?
bool is_plain(const ExportedFabric& fabric, NodeId node, const netio::Route& route);
/// The routes of a node's plan that are plain, or the others, translated, in the lab's order; not those of a
/// host to its peers.
std::vector<netio::Route> exported_routes(const ExportedFabric& fabric, NodeId node, bool plain);

/// Has FRR the plain routes of this switch, as static ones? Not where it speaks BGP and would announce them: its
/// own static routes are then to the switch's hosts.
bool has_static_routes(const ExportedFabric& fabric, NodeId node);

/// On the link: fd01::<link>:0:1/112 at the lower end.
netio::Ipv6Prefix port_prefix(const ExportedFabric& fabric, PortRef port);

}  // namespace mrclab::lab
