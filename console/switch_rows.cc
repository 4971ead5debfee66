#include "console/switch_rows.h"

#include <fmt/format.h>

#include <map>

#include "console/terminal.h"
#include "fabric/text/counted_noun.h"

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
  return port < site.ports.size() ? site.ports[port].name() : "";
}

json rows_of_hosts(const NodeSite& site, const std::vector<HostRoute>& routes) {
  json rows = json::array();
  for (size_t first = 0; first < routes.size();) {
    size_t end = first;
    std::optional<SwitchRowCount> sum;
    for (; end < routes.size() && routes[end].ports == routes[first].ports &&
           routes[end].weights == routes[first].weights;
         ++end) {
      const auto& counter = routes[end].counter;
      if (!counter) continue;
      if (!sum) sum.emplace();
      sum->packets += counter->packets;
      sum->bytes += counter->bytes;
    }
    std::string ports;
    const std::vector<uint32_t>& weights = routes[first].weights;
    const size_t ways = routes[first].ports.size();
    for (size_t i = 0; i < ways; ++i) {
      ports += (ports.empty() ? "" : ",") + switch_port_name(site, routes[first].ports[i].value);
      if (ways > 1 && i < weights.size()) ports += fmt::format("*{}", weights[i]);
    }
    const std::string_view many = weights.empty() ? "hash" : "weigh";
    json row = switch_row("", ways == 0 ? "drop" : ways == 1 ? "via" : many, ports);
    row["hosts"] = fmt::format("h{}", routes[first].host);
    if (end > first + 1)
      row["hosts"] = fmt::format("h{}-h{}", routes[first].host, routes[end - 1].host);
    if (sum) row.update({{"packets", sum->packets}, {"bytes", sum->bytes}});
    rows.push_back(std::move(row));
    first = end;
  }
  return rows;
}

namespace {

std::vector<HostRoute> host_routes_of(const json& table) {
  std::vector<HostRoute> hosts;
  for (const json& numbers : table.at("hosts")) {
    hosts.push_back({static_cast<uint32_t>(hosts.size()), {}});
    for (const json& port : numbers) hosts.back().ports.push_back(PortId{port.get<uint32_t>()});
    if (table.contains("weights")) {
      table.at("weights").at(hosts.size() - 1).get_to(hosts.back().weights);
    }
  }
  return hosts;
}

}  // namespace

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
  for (json& row : rows_of_hosts(site, host_routes_of(table))) rows.push_back(std::move(row));
  rows.push_back(count(switch_row("", "drop"), 0, false));
  return rows;
}

json table_of_rows(const NodeSite& site, json rows) {
  return {{"node", site.name}, {"forwarding", name_of(site.forwarding)}, {"rows", std::move(rows)}};
}

json table_of_switch(const NodeSite& site, const json& said) {
  json made = table_of_rows(site, rows_of_switch(site, said));
  for (const char* key : {"speaker", "fast_reroute", "neighbours"}) {
    if (said.contains(key)) made[key] = said.at(key);
  }
  return made;
}

json table_of_host(const NodeSite& site, const json& said) {
  json made{{"node", site.name},
            {"forwarding", "its NIC"},
            {"rows", rows_of_hosts(site, host_routes_of(said))}};
  made["speaker"] = said.at("speaker");
  return made;
}

namespace {

std::string rate_text(const json& mbps) {
  return mbps.is_null() ? "-" : fmt::format("{:g}", mbps.get<double>() / 1000);
}

/// Ports with rates in Gb/s, equal rows as one: "u0,u1 12.5, u2 10".
std::string rates_text(const json& list) {
  std::string text;
  for (size_t first = 0; first < list.size();) {
    size_t end = first;
    for (; end < list.size() && list[end].at("mbps") == list[first].at("mbps"); ++end) {
      text +=
          (end == first ? (first == 0 ? "" : ", ") : ",") + list[end].at("port").get<std::string>();
    }
    text += " " + rate_text(list[first].at("mbps"));
    first = end;
  }
  return text.empty() ? "-" : text;
}

std::string speaker_text(const json& speaker) {
  std::string text = fmt::format(
      "\nBGP: AS {}, router {}; {} UPDATEs came, {} went, {} table writes\n"
      "     {} prefixes known, {} of them in the forwarding table\n",
      speaker.at("as").get<uint32_t>(), speaker.at("router").get<std::string>(),
      speaker.at("updates_in").get<uint64_t>(), speaker.at("updates_out").get<uint64_t>(),
      speaker.at("fib_writes").get<uint64_t>(), speaker.at("prefixes").get<uint64_t>(),
      speaker.at("installed").get<uint64_t>());
  std::vector<std::vector<std::string>> rows{{"SESSION", "WITH", "AS", "STATE", "ROUTES"}};
  for (const json& session : speaker.at("sessions")) {
    rows.push_back({session.at("port").get<std::string>(), session.at("with").get<std::string>(),
                    session.at("as").dump(), session.at("state").get<std::string>(),
                    session.at("routes").dump()});
  }
  text += table(rows);
  rows = {{"HOSTS", "RECEIVED, Gb/s", "ANNOUNCED, Gb/s"}};
  const json& routes = speaker.at("routes");
  for (size_t first = 0; first < routes.size();) {
    size_t end = first;
    const auto alike = [&](const char* key) {
      return routes[end].at(key) == routes[first].at(key);
    };
    while (end < routes.size() && alike("heard") && alike("told") && alike("own")) ++end;
    const auto name = [&](size_t i) { return routes[i].at("to").get<std::string>(); };
    const bool own = routes[first].at("own").get<bool>();
    rows.push_back({end == first + 1 ? name(first) : name(first) + "-" + name(end - 1),
                    own ? "its own" : rates_text(routes[first].at("heard")),
                    rates_text(routes[first].at("told"))});
    first = end;
  }
  return text + table(rows);
}

std::string reroute_text(const json& reroute) {
  std::string dead, lost;
  for (const json& port : reroute.at("dead")) dead += " " + port.get<std::string>();
  for (const auto& [port, hosts] : reroute.at("lost_behind").items()) {
    lost += fmt::format(" {} {}", port, counted_noun(hosts.get<uint32_t>(), "host"));
  }
  return fmt::format(
      "\nFast reroute: {}; ports left out:{}; reported as lost behind:{}\n"
      "     {} notices came, {} went, {} malformed, {} refused\n",
      reroute.at("scope").get<std::string>(), dead.empty() ? " none" : dead,
      lost.empty() ? " none" : lost, reroute.at("notices_in").get<uint64_t>(),
      reroute.at("notices_out").get<uint64_t>(), reroute.at("malformed").get<uint64_t>(),
      reroute.at("refused").get<uint64_t>());
}

}  // namespace

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
  if (switch_json.contains("fast_reroute")) text += reroute_text(switch_json.at("fast_reroute"));
  if (switch_json.contains("speaker")) text += speaker_text(switch_json.at("speaker"));
  return text;
}

}  // namespace mrclab::lab
