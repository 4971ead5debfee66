#include "live/inspect/switch_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>

#include "console/switch_rows.h"
#include "fabric/base/byte_order.h"
#include "fabric/paths/ecmp.h"
#include "fabric/topology/path.h"
#include "live/bringup/node_plan.h"
#include "live/bringup/process_names.h"
#include "live/external/bpf_switches.h"
#include "live/external/ovs_switches.h"
#include "netio/kernel/link.h"
#include "netio/kernel/route.h"
#include "netio/rpc/rpc.h"

namespace mrclab::lab {
namespace {

using nlohmann::json;

/// A process of its own, with --isolate, or that of the plane, or of some planes.
std::filesystem::path control_socket_of(const NodeSite& site, const std::filesystem::path& folder) {
  std::filesystem::path alone = folder / (site.name + ".sock");
  if (std::filesystem::exists(alone)) return alone;
  std::error_code none;  // without the folder there is no lab, which connecting reports
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    const std::filesystem::path& socket = entry.path();
    if (socket.extension() == ".sock" && runs_plane(socket.stem().native(), site.plane)) {
      return socket;
    }
  }
  return folder / (name_of_planes(site.plane, site.plane) + ".sock");
}

/// The process of a host: its own, or the one that runs it among those of all hosts.
json host_answer(const NodeSite& site, const std::filesystem::path& folder) {
  const json asked{{"node", site.name}};
  const auto alone = folder / (site.name + ".sock");
  if (std::filesystem::exists(alone)) return netio::RpcClient(alone).call("table", asked);
  for (uint32_t group = 0;; ++group) {
    const auto socket = folder / fmt::format("hosts-{}.sock", group);
    const bool last = !std::filesystem::exists(folder / fmt::format("hosts-{}.sock", group + 1));
    try {
      return netio::RpcClient(socket).call("table", asked);
    } catch (const std::exception&) {
      if (last) throw;
    }
  }
}

json switch_answer(const NodeSite& site, const std::filesystem::path& folder) {
  return netio::RpcClient(control_socket_of(site, folder)).call("table", {{"node", site.name}});
}

json rows_of_kernel(const NodeSite& site, std::string_view lab) {
  const auto ns = netio::NetworkNamespace::open(namespace_name(lab, site.name));
  netio::NamespaceNetlink netlink(ns);
  json rows = json::array();
  for (const netio::InstalledRoute& route : netio::installed_routes(netlink)) {
    if (!in_usid_block(route.destination.address)) continue;
    const bool whole_block = route.destination.length == kUsidBlockBits;
    std::string usid = whole_block ? "" : usid_text(active_usid(route.destination.address).value);
    if (!whole_block && route.destination.length != kUsidBlockBits + kUsidBits) {
      usid += "/" + std::to_string(route.destination.length);
    }
    const std::string_view action = route.blackhole        ? "drop"
                                    : route.action.empty() ? "via"
                                                           : route.action;
    const bool stub = route.dev == kStubInterface;
    json row = switch_row(usid, action, stub ? "" : route.dev);
    if (route.counters) {
      row["packets"] = route.counters->packets;
      row["bytes"] = route.counters->bytes;
      row["errors"] = route.counters->errors;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

json rows_of_ovs(const Topology& topology, const NodeSite& site,
                 const std::filesystem::path& folder) {
  const std::vector<switchd::RuleCounter> rules = ovs_counters(folder, site.name);
  const std::vector<PortId> uplinks = uplinks_of(topology, site.id);
  uint64_t end_of_carrier = 0;
  for (const switchd::RuleCounter& rule : rules) {
    if (rule.kind == switchd::RuleKind::kEndOfCarrier && rule.usid == site.usid) {
      end_of_carrier = rule.packets;
    }
  }
  json own = json::array(), routes = json::array(), drops = json::array();
  std::vector<HostRoute> hosts;
  for (const switchd::RuleCounter& rule : rules) {
    json row;
    switch (rule.kind) {
      case switchd::RuleKind::kOwnUsid:
        row = switch_row(usid_text(rule.usid.value), "End");
        row["errors"] = end_of_carrier;
        break;
      case switchd::RuleKind::kNextUsid:
        if (!rule.port) continue;  // on its way to the routes
        row =
            switch_row(usid_text(rule.usid.value), "via", switch_port_name(site, rule.port->value));
        break;
      case switchd::RuleKind::kLink:
        row = switch_row(usid_text(rule.usid.value), "End.X",
                         rule.port ? switch_port_name(site, rule.port->value) : "");
        break;
      case switchd::RuleKind::kHost:
        hosts.push_back({rule.usid.value, rule.group ? uplinks : std::vector<PortId>{},
                         SwitchRowCount{rule.packets, rule.bytes}});
        if (rule.port) hosts.back().ports = {*rule.port};
        continue;
      case switchd::RuleKind::kUnknownUsid: row = switch_row("", "drop"); break;
      default: continue;
    }
    row["packets"] = rule.packets;
    row["bytes"] = rule.bytes;
    const bool ending = rule.kind == switchd::RuleKind::kOwnUsid;
    const bool dropping = rule.kind == switchd::RuleKind::kUnknownUsid;
    json& list = ending ? own : dropping ? drops : routes;
    list.push_back(std::move(row));
  }
  std::sort(routes.begin(), routes.end(),
            [](const json& a, const json& b) { return a.at("usid") < b.at("usid"); });
  std::sort(hosts.begin(), hosts.end(),
            [](const HostRoute& a, const HostRoute& b) { return a.host < b.host; });
  own.insert(own.end(), routes.begin(), routes.end());
  for (json& row : rows_of_hosts(site, hosts)) own.push_back(std::move(row));
  own.insert(own.end(), drops.begin(), drops.end());
  return own;
}

}  // namespace

json switch_table(const Topology& topology, const LabRecord& record, NodeId node) {
  const NodeSite& site = topology.node(node);
  const std::filesystem::path folder = LabPaths{}.lab_directory(record.lab);
  if (site.role == NodeRole::kHost) return table_of_host(site, host_answer(site, folder));
  switch (site.forwarding) {
    case Forwarding::kSwitchd: return table_of_switch(site, switch_answer(site, folder));
    case Forwarding::kKernel: return table_of_rows(site, rows_of_kernel(site, record.lab));
    case Forwarding::kBpf: return table_of_rows(site, rows_of_bpf(site, record.lab));
    case Forwarding::kOvs: break;
  }
  return table_of_rows(site, rows_of_ovs(topology, site, folder));
}

}  // namespace mrclab::lab
