#include "lab/console/switch_rows.h"

#include <fmt/format.h>

#include <map>

#include "lab/console/terminal.h"

namespace mrclab::lab {

using nlohmann::json;

namespace {

std::string cell(const json& row, const char* key) {
  if (!row.contains(key)) return "-";
  return row.at(key).is_string() ? row.at(key).get<std::string>() : row.at(key).dump();
}

}  // namespace

std::string usid_text(uint16_t usid) { return fmt::format("{:04x}", usid); }

json switch_row(const std::string& usid, std::string_view action, const std::string& port) {
  json row{{"action", action}};
  if (!usid.empty()) row["usid"] = usid;
  if (!port.empty()) row["port"] = port;
  return row;
}

std::string switch_port_name(const NodeSite& site, uint32_t port) {
  return port < site.ports.size() ? site.ports[port].name : "";
}

json rows_of_hosts(const NodeSite& site, const std::vector<HostRoute>& routes) {
  json rows = json::array();
  for (size_t first = 0; first < routes.size();) {
    size_t end = first;
    std::optional<SwitchRowCount> sum;
    for (; end < routes.size() && routes[end].ports == routes[first].ports; ++end) {
      const auto& counter = routes[end].counter;
      if (!counter) continue;
      if (!sum) sum.emplace();
      sum->packets += counter->packets;
      sum->bytes += counter->bytes;
    }
    std::string ports;
    for (const PortId port : routes[first].ports) {
      ports += (ports.empty() ? "" : ",") + switch_port_name(site, port.value);
    }
    const size_t ways = routes[first].ports.size();
    json row = switch_row("", ways == 0 ? "drop" : ways == 1 ? "via" : "hash", ports);
    row["hosts"] = fmt::format("h{}", routes[first].host);
    if (end > first + 1)
      row["hosts"] = fmt::format("h{}-h{}", routes[first].host, routes[end - 1].host);
    if (sum) row.update({{"packets", sum->packets}, {"bytes", sum->bytes}});
    rows.push_back(std::move(row));
    first = end;
  }
  return rows;
}

json rows_of_switch(const NodeSite& site, const json& table) {
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
  json rows = json::array({count(switch_row(usid_text(own), "End"), own, true)});
  for (const json& route : table.at("routes")) {
    const auto usid = route.at("usid").get<uint16_t>();
    const bool adjacency = route.at("adjacency").get<bool>();
    rows.push_back(count(switch_row(usid_text(usid), adjacency ? "End.X" : "via",
                                    switch_port_name(site, route.at("port").get<uint32_t>())),
                         usid, adjacency));
  }
  std::vector<HostRoute> hosts;
  for (const json& numbers : table.at("hosts")) {
    hosts.push_back({static_cast<uint32_t>(hosts.size()), {}});
    for (const json& port : numbers) hosts.back().ports.push_back(PortId{port.get<uint32_t>()});
  }
  for (json& row : rows_of_hosts(site, hosts)) rows.push_back(std::move(row));
  rows.push_back(count(switch_row("", "drop"), 0, false));
  return rows;
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
  return switch_json.at("node").get<std::string>() + ": forwarded by " + by + "\n" + table(rows);
}

}  // namespace mrclab::lab
