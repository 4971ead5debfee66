#include "live/external/bpf_switches.h"

#include <fmt/format.h>
#include <net/if.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "console/switch_rows.h"
#include "fabric/text/yaml.h"
#include "fabric/topology/routes.h"
#include "live/bringup/lab_record.h"
#include "live/bringup/process_names.h"
#include "netio/kernel/link.h"
#include "netio/system/system_error.h"
#include "switchd/bpf/usid_switch.h"
#include "switchd/bpf/usid_switch_object.h"
#include "switchd/egress_port.h"
#include "switchd/outer_header.h"

namespace mrclab::lab {
namespace {

constexpr const char* kProgram = "usid_switch";
constexpr const char *kRoutes = "routes", *kPorts = "ports", *kRules = "rules";
constexpr uint64_t kPsPerSecond = 1'000'000'000'000;

usid_rules rules_of_fabric(const Topology& topology) {
  usid_rules rules{};
  for (uint8_t dscp = 0; dscp <= kMaxDscp; ++dscp) {
    if (topology.dscps.is_trimmable(dscp)) rules.trimmable |= uint64_t{1} << dscp;
    if (topology.dscps.is_control(dscp)) rules.control |= uint64_t{1} << dscp;
  }
  rules.trimmed = topology.dscps.trimmed;
  rules.trimmed_last_hop = topology.dscps.trimmed_last_hop;
  rules.trimmed_bytes = kTrimmedFrameBytes;
  rules.header_bytes = switchd::kLongestHeaderOnlyFrame;
  return rules;
}

usid_route route_out_of(const Topology& topology, NodeId node, Usid usid, PortId port) {
  usid_route route{};
  route.action = port_of_adjacency(topology, node, usid) ? USID_LINK : USID_VIA;
  route.port = port.value;
  return route;
}

/// Without a pace of its shaper the queue of a port is always empty.
usid_port port_of(const LiveFabric& fabric, PortRef ref, const PortImpairment& impairment,
                  uint64_t bytes_per_second) {
  const Topology& topology = fabric.topology();
  const Port& port = topology.port(ref);
  const Wire& out = topology.wire(port.out);
  const QueueProfile limits =
      switchd::spoilt(topology.queues_of(out), {.trim_off = impairment.trim_off,
                                                .ecn = impairment.ecn,
                                                .buffer_lost = impairment.buffer_lost});
  usid_port entry{};
  entry.ifindex = static_cast<uint32_t>(fabric.interface_index(ref));
  entry.to_host = topology.node(out.to.node).role == NodeRole::kHost;
  if (limits.ecn) entry.marks = impairment.ecn == EcnKind::kAlways ? USID_MARKS_ALL : USID_MARKS;
  entry.trims = limits.trim;
  const MacAddress& peer = topology.port(port.peer).mac;
  std::copy(port.mac.begin(), port.mac.end(), std::copy(peer.begin(), peer.end(), entry.macs));
  entry.ps_per_byte = bytes_per_second == 0 ? 0 : kPsPerSecond / bytes_per_second;
  entry.mark_min = limits.ecn_min.value;
  entry.mark_max = limits.ecn_max.value;
  entry.trim_over = std::min(entry.to_host ? limits.trim_threshold_last_hop : limits.trim_threshold,
                             limits.tail_drop)
                        .value;
  entry.most = limits.tail_drop.value;
  return entry;
}

}  // namespace

BpfSwitches::BpfSwitches(LiveFabric& fabric)
    : fabric_(fabric), tables_([this](NodeId node) { return rules_of(node); }) {
  const Topology& topology = fabric.topology();
  if (const auto why = netio::why_no_bpf(switchd::usid_switch_object())) {
    throw InputError(fmt::format("fabric {}: found \"forwarding: bpf\": {}", topology.name, *why));
  }
  const usid_rules rules = rules_of_fabric(topology);
  for (const NodeSite& site : topology.nodes) {
    if (site.role == NodeRole::kHost || site.forwarding != Forwarding::kBpf) continue;
    if (site.ports.size() > USID_MAX_PORTS) {
      throw InputError(fmt::format(
          "fabric {}: found {} ports at {}: expected at most {} with \"forwarding: bpf\"",
          topology.name, site.ports.size(), site.name, USID_MAX_PORTS));
    }
    netio::BpfProgram program = netio::BpfProgram::load(switchd::usid_switch_object(), kProgram);
    netio::BpfMap routes = program.map(kRoutes), ports = program.map(kPorts);
    program.map(kRules).set(uint32_t{0}, rules);
    usid_route end{};
    end.action = USID_END;
    routes.set(uint32_t{site.usid.value}, end);
    usid_route none{};
    none.action = USID_DROP;
    routes.set(uint32_t{0}, none);
    for (uint32_t i = 0; i < site.ports.size(); ++i) {
      const PortRef port{site.id, PortId{i}};
      ports.set(i, port_of(fabric, port, {}, 0));
      for (const Usid usid : usids_behind(topology, port)) {
        routes.set(uint32_t{usid.value}, route_out_of(topology, site.id, usid, port.port));
      }
    }
    fabric.network_namespace(site.id).run_in([&] {
      for (uint32_t i = 0; i < site.ports.size(); ++i) {
        program.attach_to_ingress(fabric.interface_index({site.id, PortId{i}}));
      }
    });
    programs_.emplace(site.id, std::move(program));
  }
}

std::optional<std::string> BpfSwitches::find_changes() {
  auto next = programs_.lower_bound(next_looked_at_);
  if (next == programs_.end()) next = programs_.begin();
  if (next == programs_.end()) return std::nullopt;
  next_looked_at_ = NodeId{next->first.value + 1};
  const auto difference = tables_.find_difference(next->first);
  if (!difference) return std::nullopt;
  return fmt::format("somebody changed the table of {} ({})",
                     fabric_.topology().node(next->first).name, *difference);
}

void BpfSwitches::set_port(PortRef port, const PortImpairment& impairment,
                           const netio::Shaper& shaper) {
  tables_.forget(port.node);
  programs_.at(port.node).map(kPorts).set(
      uint32_t{port.port.value}, port_of(fabric_, port, impairment, shaper.bytes_per_second));
}

void BpfSwitches::set_route(NodeId node, Usid usid, std::optional<PortId> port) {
  tables_.forget(node);
  netio::BpfMap routes = programs_.at(node).map(kRoutes);
  const uint32_t key{usid.value};
  if (port) {
    routes.set(key, route_out_of(fabric_.topology(), node, usid, *port));
  } else {
    routes.erase(key);
  }
}

std::vector<std::string> BpfSwitches::rules_of(NodeId node) const {
  const netio::BpfProgram& program = programs_.at(node);
  const netio::BpfMap routes = program.map(kRoutes), ports = program.map(kPorts);
  std::vector<std::string> lines;
  for (const uint32_t usid : routes.keys<uint32_t>()) {
    const auto route = routes.get<usid_route>(usid);
    if (route)
      lines.push_back(fmt::format("{:04x} action {} port {}", usid, route->action, route->port));
  }
  for (uint32_t number = 0; number < fabric_.topology().node(node).ports.size(); ++number) {
    const auto port = ports.get<usid_port>(number);
    if (!port) continue;
    lines.push_back(fmt::format("port {} marks {} from {} to {} trims {} over {} most {} pace {}",
                                number, port->marks, port->mark_min, port->mark_max, port->trims,
                                port->trim_over, port->most, port->ps_per_byte));
  }
  return lines;
}

nlohmann::json rows_of_bpf(const NodeSite& site, const std::string& lab) {
  const auto ns = netio::NetworkNamespace::open(namespace_name(lab, site.name));
  const std::optional<netio::BpfMap> routes = ns.run_in([&]() -> std::optional<netio::BpfMap> {
    return netio::attached_map(
        static_cast<int>(::if_nametoindex(site.ports.front().name().c_str())), kRoutes);
  });
  if (!routes) {
    throw netio::SystemError("reading the routes of " + site.name, ENOENT,
                             "no BPF program is at its ports");
  }
  std::vector<uint32_t> usids = routes->keys<uint32_t>();
  std::sort(usids.begin(), usids.end());
  // The switch's own uSID first and what has no route last, as `inspect` shows a switch of ours.
  nlohmann::json own = nlohmann::json::array(), via = own, dropped = own;
  for (const uint32_t usid : usids) {
    const auto route = routes->get<usid_route>(usid);
    if (!route) continue;
    const std::string name = usid_text(static_cast<uint16_t>(usid));
    const std::string port = switch_port_name(site, route->port);
    const auto counted = [&](nlohmann::json row, bool errors) {
      row.update({{"packets", route->packets}, {"bytes", route->bytes}});
      if (errors) row["errors"] = route->errors;
      return row;
    };
    switch (route->action) {
      case USID_DROP: dropped.push_back(counted(switch_row("", "drop"), false)); break;
      case USID_END: own.push_back(counted(switch_row(name, "End"), true)); break;
      case USID_LINK: via.push_back(counted(switch_row(name, "End.X", port), true)); break;
      default: via.push_back(counted(switch_row(name, "via", port), false));
    }
  }
  own.insert(own.end(), via.begin(), via.end());
  own.insert(own.end(), dropped.begin(), dropped.end());
  return own;
}

}  // namespace mrclab::lab
