#include "live/external/node_snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "fabric/topology/forwarder.h"
#include "fabric/topology/path.h"
#include "live/bringup/node_plan.h"
#include "netio/kernel/link.h"
#include "netio/kernel/route.h"
#include "netio/kernel/shaper.h"

namespace mrclab::lab {
namespace {

std::string qdisc_text(const netio::InstalledQdisc& qdisc) {
  std::string text = fmt::format("qdisc {} {}", qdisc.device, qdisc.kind);
  if (qdisc.shaper) {
    text += fmt::format(" rate {} burst {} queue {}", qdisc.shaper->bytes_per_second,
                        qdisc.shaper->burst, qdisc.shaper->queue);
  }
  return text;
}

std::string route_text(const netio::InstalledRoute& route) {
  std::string text = "route " + netio::prefix_text(route.destination);
  if (route.blackhole) text += " blackhole";
  if (!route.action.empty()) text += " " + std::string(route.action);
  if (route.via) text += " via " + to_string(*route.via);
  if (!route.dev.empty()) text += " dev " + route.dev;
  return text + fmt::format(" metric {}", route.metric);
}

}  // namespace

NodeSnapshot take_snapshot(LiveFabric& fabric, NodeId node, netio::PacketFilter& filter,
                           const OvsSwitches* ovs, const BpfSwitches* bpf) {
  const NodeSite& site = fabric.topology().node(node);
  netio::NamespaceNetlink& netlink = fabric.netlink(node);
  std::set<std::string> devices;
  for (uint32_t i = 0; i < site.ports.size(); ++i) {
    const PortRef port{node, PortId{i}};
    const Link& link = fabric.topology().link(fabric.topology().port(port).link);
    if (!is_ours(fabric.topology(), link)) devices.insert(device_of(fabric.topology(), port));
  }
  NodeSnapshot lines;
  for (const netio::LinkState& link : netlink.links()) {
    if (!devices.contains(link.name)) continue;
    lines.push_back(
        fmt::format("link {} {} mtu {}", link.name, link.admin_up ? "up" : "down", link.mtu));
  }
  for (const netio::InstalledQdisc& qdisc : netio::installed_qdiscs(netlink)) {
    if (devices.contains(qdisc.device)) lines.push_back(qdisc_text(qdisc));
  }
  for (const auto& [device, rules] : filter.rules()) {
    if (!devices.contains(device)) continue;
    for (const std::string& rule : rules) lines.push_back("filter " + device + " " + rule);
  }
  if (fabric.plan(node).ipv6) {
    for (const netio::InstalledNeighbour& neighbour : netio::installed_neighbours(netlink)) {
      if (!devices.contains(neighbour.dev)) continue;
      lines.push_back(fmt::format("neighbour {} is {} dev {}", to_string(neighbour.address),
                                  to_string(neighbour.mac), neighbour.dev));
    }
    for (const netio::InstalledRoute& route : netio::installed_routes(netlink)) {
      // A host's routes to other hosts change with faults anywhere in the
      // fabric (ordinary_routes.h).
      const bool to_host =
          host_of_address(fabric.topology(), route.destination.address).has_value();
      if (site.role == NodeRole::kHost && to_host) continue;
      if (site.role != NodeRole::kHost && netio::is_learnt(route.protocol)) continue;
      const bool of_our_link = !route.dev.empty() && !devices.contains(route.dev);
      if (!is_ours(site) || !of_our_link) lines.push_back(route_text(route));
    }
  }
  if (shares_namespace(site) && ovs != nullptr) {
    for (const std::string& rule : ovs->rules_of(node)) lines.push_back("rule " + rule);
  }
  if (site.forwarding == Forwarding::kBpf && bpf != nullptr && site.role != NodeRole::kHost) {
    for (const std::string& rule : bpf->rules_of(node)) lines.push_back("rule " + rule);
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace mrclab::lab
