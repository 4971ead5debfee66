#include "live/translate/node_setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "fabric/topology/path.h"
#include "live/external/switch_impairment.h"

namespace mrclab::lab {
namespace {

constexpr uint32_t kFirstRule =
    1000;  // between the kernel's local and main table, as bring_up.cc has it
constexpr uint8_t kLinkBits = 112;
constexpr uint32_t kOuterIpv6 = 40;
constexpr uint32_t kMainTable = 254;

struct ActionText {
  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(const netio::EncapRed& encap) const {
    return " encap seg6 mode encap.red segs " + to_string(encap.segment);
  }
  std::string operator()(const netio::EndNextCsid& end) const {
    return " encap seg6local action End" + next_csid(end.block_bits, end.usid_bits);
  }
  std::string operator()(const netio::EndXNextCsid& end) const {
    return " encap seg6local action End.X nh6 " + to_string(end.next_hop) +
           next_csid(end.block_bits, end.usid_bits);
  }
  std::string operator()(const netio::EndDt6& end) const {
    return fmt::format(" encap seg6local action End.DT6 table {} count", end.table);
  }
  static std::string next_csid(uint8_t block_bits, uint8_t usid_bits) {
    return fmt::format(" flavors next-csid lblen {} nflen {} count", block_bits, usid_bits);
  }
};

std::string action_text(const netio::RouteAction& action) {
  return std::visit(ActionText{}, action);
}

std::optional<PortRef> port_named(const ExportedFabric& fabric, NodeId node,
                                  const std::string& device) {
  const Ports ports = fabric.topology().node(node).ports;
  for (uint32_t i = 0; i < ports.size(); ++i) {
    if (ports[i].name() == device) return PortRef{node, PortId{i}};
  }
  return std::nullopt;
}

/// The last value of each counts. Left out: settings that disable neighbour discovery, and settings of a host's ports
/// that must come after all others, since the order is not ours.
std::vector<std::pair<std::string, std::string>> sysctls_of(const netio::Sysctls& planned) {
  std::map<std::string, std::string> last;
  for (const netio::Sysctl& sysctl : planned) {
    std::string name = sysctl.path;
    for (char& c : name) {
      if (c == '/') c = '.';
    }
    last[name] = sysctl.value;
  }
  last.erase("net.ipv6.conf.default.addr_gen_mode");
  last.erase("net.ipv6.conf.default.forwarding");
  last["net.ipv6.conf.all.disable_ipv6"] = "0";
  last["net.ipv6.conf.default.disable_ipv6"] = "0";
  return {last.begin(), last.end()};
}

void add_stub(const ExportedFabric& fabric, const NodePlan& plan,
              std::vector<std::string>& commands) {
  // The stub's packets leave with an outer header more.
  const uint32_t mtu = std::min(plan.stub_mtu, fabric.link_mtu() - kOuterIpv6);
  commands.push_back(fmt::format("ip link add {} address {} type veth peer name {} address {}",
                                 kStubInterface, to_string(kStubMac), kStubPeer,
                                 to_string(kStubPeerMac)));
  for (const char* end : {kStubInterface, kStubPeer}) {
    commands.push_back(fmt::format("ip link set dev {} mtu {} up", end, mtu));
  }
}

void add_port(const ExportedFabric& fabric, PortRef ref, std::vector<std::string>& commands) {
  const std::string device = fabric.interface(ref);
  // The lab's own MAC addresses, so that its next hops can be options of mrc-endpoint.
  commands.push_back(fmt::format("ip link set dev {} address {} up", device,
                                 to_string(fabric.topology().port(ref).mac)));
  commands.push_back(fmt::format("ip address replace {} dev {} nodad",
                                 netio::prefix_text(port_prefix(fabric, ref)), device));
  if (fabric.options().dilation == 0) return;
  const netio::Shaper shaper =
      shaper_of(fabric.topology(), ref, PortImpairment{}, fabric.options().dilation);
  commands.push_back(fmt::format("tc qdisc replace dev {} root tbf rate {}bit burst {} limit {}",
                                 device, shaper.bytes_per_second * 8, shaper.burst, shaper.queue));
}

}  // namespace

netio::Ipv6Prefix port_prefix(const ExportedFabric& fabric, PortRef port) {
  return {link_address(fabric.topology(), port), kLinkBits};
}

netio::Route exported_route(const ExportedFabric& fabric, NodeId node, netio::Route route) {
  const auto translate = [&](std::string& device, Ipv6Address& via) {
    const auto port = port_named(fabric, node, device);
    if (!port) return;
    if (via == other_end()) via = fabric.next_hop(*port);
    device = fabric.interface(*port);
  };
  Ipv6Address via = route.via.value_or(Ipv6Address{});
  translate(route.dev, via);
  if (route.via) route.via = via;
  for (netio::RouteWay& way : route.ways) translate(way.dev, way.via);
  return route;
}

std::string route_command(const netio::Route& route) {
  std::string text = "ip -6 route replace ";
  if (route.end == netio::RouteEnd::kBlackhole) text += "blackhole ";
  if (route.end == netio::RouteEnd::kUnreachable) text += "unreachable ";
  text += netio::prefix_text(route.destination) + action_text(route.action);
  if (route.via) text += " via " + to_string(*route.via);
  if (!route.dev.empty()) text += " dev " + route.dev;
  if (route.metric != 0) text += fmt::format(" metric {}", route.metric);
  if (route.table != kMainTable) text += fmt::format(" table {}", route.table);
  text += " proto static";
  if (route.mtu != 0) text += fmt::format(" mtu {}", route.mtu);
  for (const netio::RouteWay& way : route.ways) {
    text += fmt::format(" nexthop{} via {} dev {}", action_text(way.action), to_string(way.via),
                        way.dev);
    if (way.weight != 1) text += fmt::format(" weight {}", way.weight);
  }
  return text;
}

bool is_plain(const ExportedFabric& fabric, NodeId node, const netio::Route& route) {
  return route.via && route.ways.empty() && route.table == kMainTable &&
         route.end == netio::RouteEnd::kNone &&
         std::holds_alternative<std::monostate>(route.action) &&
         port_named(fabric, node, route.dev).has_value();
}

std::vector<netio::Route> exported_routes(const ExportedFabric& fabric, NodeId node, bool plain) {
  const NodePlan plan = plan_node(fabric.topology(), node);
  std::vector<netio::Route> routes;
  const auto add = [&](const netio::Route& route) {
    if (is_plain(fabric, node, route) == plain) {
      routes.push_back(exported_route(fabric, node, route));
    }
  };
  for (const netio::Route& route : plan.fixed_routes) add(route);
  for (const PortPlan& port : plan.ports) {
    for (const netio::Route& route : port.routes) add(route);
  }
  return routes;
}

bool has_static_routes(const ExportedFabric& fabric, NodeId node) {
  return !fabric.is_host(node) && fabric.options().switches == SwitchKind::kFrr &&
         !fabric.topology().routing.is_fare();
}

NodeSetup node_setup(const ExportedFabric& fabric, NodeId node) {
  const NodePlan plan = plan_node(fabric.topology(), node);
  NodeSetup setup{sysctls_of(plan.sysctls), {}};
  std::vector<std::string>& commands = setup.commands;
  if (plan.needs_stub) add_stub(fabric, plan, commands);
  for (const netio::Ipv6Prefix& address : plan.loopback_addresses) {
    commands.push_back("ip address replace " + netio::prefix_text(address) + " dev lo");
  }
  for (uint32_t i = 0; i < plan.rules.size(); ++i) {
    commands.push_back(fmt::format("ip -6 rule add pref {} iif {} lookup {}", kFirstRule + i,
                                   plan.rules[i].from, plan.rules[i].table));
  }
  if (!plan.rules.empty()) {
    commands.push_back(fmt::format("ip -6 neighbour replace {} lladdr {} dev {}",
                                   to_string(other_end()), to_string(kStubPeerMac),
                                   kStubInterface));
  }
  for (uint32_t i = 0; i < plan.ports.size(); ++i) {
    add_port(fabric, {node, PortId{i}}, commands);
  }
  for (const netio::Route& route : exported_routes(fabric, node, false)) {
    commands.push_back(route_command(route));
  }
  if (!has_static_routes(fabric, node)) {
    for (const netio::Route& route : exported_routes(fabric, node, true)) {
      commands.push_back(route_command(route));
    }
  }
  if (!fabric.links_hosts()) return setup;
  for (const netio::Route& route : plan.peer_routes) {
    if (!route.ways.empty()) commands.push_back(route_command(exported_route(fabric, node, route)));
  }
  return setup;
}

}  // namespace mrclab::lab
