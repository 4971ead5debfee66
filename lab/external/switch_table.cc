#include "lab/external/switch_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>

#include "fabric/byte_order.h"
#include "fabric/ecmp.h"
#include "fabric/path.h"
#include "lab/bringup/node_plan.h"
#include "lab/console/terminal.h"
#include "lab/external/ovs_switches.h"
#include "netio/kernel/link.h"
#include "netio/kernel/open_vswitch.h"
#include "netio/kernel/route.h"
#include "netio/rpc/rpc.h"

namespace mrclab::lab {
namespace {

using nlohmann::json;

std::string usid_text(uint16_t usid) { return fmt::format("{:04x}", usid); }

json row_of(const std::string& usid, std::string_view action, const std::string& port = "") {
  json row{{"action", action}};
  if (!usid.empty()) row["usid"] = usid;
  if (!port.empty()) row["port"] = port;
  return row;
}

std::string port_name(const NodeSite& site, uint32_t port) {
  return port < site.ports.size() ? site.ports[port].name : "";
}

/// How one host is reached without a carrier.
struct HostRoute {
  uint32_t host = 0;
  std::vector<PortId> ports;  ///< more than one: a hash chooses
  std::optional<switchd::RuleCounter> counter = std::nullopt;
};

/// Neighbours that are reached alike in one row. `routes` by host.
json rows_of_hosts(const NodeSite& site, const std::vector<HostRoute>& routes) {
  json rows = json::array();
  for (size_t first = 0; first < routes.size();) {
    size_t end = first;
    std::optional<switchd::RuleCounter> sum;
    for (; end < routes.size() && routes[end].ports == routes[first].ports; ++end) {
      const auto& counter = routes[end].counter;
      if (!counter) continue;
      if (!sum) sum.emplace();
      sum->packets += counter->packets;
      sum->bytes += counter->bytes;
    }
    std::string ports;
    for (const PortId port : routes[first].ports) {
      ports += (ports.empty() ? "" : ",") + port_name(site, port.value);
    }
    const size_t ways = routes[first].ports.size();
    json row = row_of("", ways == 0 ? "drop" : ways == 1 ? "via" : "hash", ports);
    row["hosts"] = fmt::format("h{}", routes[first].host);
    if (end > first + 1)
      row["hosts"] = fmt::format("h{}-h{}", routes[first].host, routes[end - 1].host);
    if (sum) row.update({{"packets", sum->packets}, {"bytes", sum->bytes}});
    rows.push_back(std::move(row));
    first = end;
  }
  return rows;
}

/// A process of its own, with --isolate, or that of the plane.
std::filesystem::path control_socket_of(const NodeSite& site, const std::filesystem::path& folder) {
  const auto alone = folder / (site.name + ".sock");
  if (std::filesystem::exists(alone)) return alone;
  return folder / fmt::format("plane-{}.sock", site.plane);
}

json rows_of_ours(const NodeSite& site, const std::filesystem::path& folder) {
  const json table =
      netio::RpcClient(control_socket_of(site, folder)).call("table", {{"node", site.name}});
  std::map<uint16_t, json> counters;
  for (const json& row : table.at("counters")) counters[row.at("usid").get<uint16_t>()] = row;
  const auto count = [&](json row, uint16_t usid, bool errors) {
    const auto found = counters.find(usid);
    for (const char* name : {"packets", "bytes", "errors"}) {
      if (name == std::string_view("errors") && !errors) continue;
      row[name] = found == counters.end() ? json(0) : found->second.at(name);
    }
    return row;
  };
  const auto own = table.at("own").get<uint16_t>();
  json rows = json::array({count(row_of(usid_text(own), "End"), own, true)});
  for (const json& route : table.at("routes")) {
    const auto usid = route.at("usid").get<uint16_t>();
    const bool adjacency = route.at("adjacency").get<bool>();
    rows.push_back(count(row_of(usid_text(usid), adjacency ? "End.X" : "via",
                                port_name(site, route.at("port").get<uint32_t>())),
                         usid, adjacency));
  }
  std::vector<HostRoute> hosts;
  for (const json& numbers : table.at("hosts")) {
    hosts.push_back({static_cast<uint32_t>(hosts.size()), {}});
    for (const json& port : numbers) hosts.back().ports.push_back(PortId{port.get<uint32_t>()});
  }
  for (json& row : rows_of_hosts(site, hosts)) rows.push_back(std::move(row));
  rows.push_back(count(row_of("", "drop"), 0, false));
  return rows;
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
    json row = row_of(usid, action, stub ? "" : route.dev);
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
        row = row_of(usid_text(rule.usid.value), "End");
        row["errors"] = end_of_carrier;
        break;
      case switchd::RuleKind::kNextUsid:
        if (!rule.port) continue;  // on its way to the routes
        row = row_of(usid_text(rule.usid.value), "via", port_name(site, rule.port->value));
        break;
      case switchd::RuleKind::kLink:
        row = row_of(usid_text(rule.usid.value), "End.X",
                     rule.port ? port_name(site, rule.port->value) : "");
        break;
      case switchd::RuleKind::kHost:
        hosts.push_back({rule.usid.value, rule.group ? uplinks : std::vector<PortId>{}, rule});
        if (rule.port) hosts.back().ports = {*rule.port};
        continue;
      case switchd::RuleKind::kUnknownUsid: row = row_of("", "drop"); break;
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

std::string cell(const json& row, const char* key) {
  if (!row.contains(key)) return "-";
  return row.at(key).is_string() ? row.at(key).get<std::string>() : row.at(key).dump();
}

}  // namespace

json switch_table(const Topology& topology, const LabRecord& record, NodeId node) {
  const NodeSite& site = topology.node(node);
  const std::filesystem::path folder = LabPaths{}.lab_directory(record.lab);
  json rows;
  switch (site.forwarding) {
    case Forwarding::kSwitchd: rows = rows_of_ours(site, folder); break;
    case Forwarding::kKernel: rows = rows_of_kernel(site, record.lab); break;
    case Forwarding::kOvs: rows = rows_of_ovs(topology, site, folder); break;
  }
  return {{"node", site.name}, {"forwarding", name_of(site.forwarding)}, {"rows", rows}};
}

std::string switch_table_text(const json& switch_json) {
  std::vector<std::vector<std::string>> rows{
      {"TO", "ACTION", "PORT", "PACKETS", "BYTES", "ERRORS"}};
  for (const json& row : switch_json.at("rows")) {
    const char* key = row.contains("hosts") ? "hosts" : "usid";
    const std::string to = row.contains(key) ? cell(row, key) : "other";
    rows.push_back({to, cell(row, "action"), cell(row, "port"), cell(row, "packets"),
                    cell(row, "bytes"), cell(row, "errors")});
  }
  const auto by = switch_json.at("forwarding").get<std::string>();
  std::string text =
      switch_json.at("node").get<std::string>() + ": forwarded by " + by + "\n" + table(rows);
  if (by == name_of(Forwarding::kOvs)) text += std::string(netio::ovs_limits()) + "\n";
  return text;
}

}  // namespace mrclab::lab
