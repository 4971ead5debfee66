#include "live/inspect/describe.h"

#include <cstdio>

#include "console/terminal.h"
#include "fabric/paths/path_list.h"
#include "fabric/text/counted_noun.h"
#include "fabric/topology/path.h"
#include "live/bringup/lab_record.h"

namespace mrclab::lab {
namespace {

using nlohmann::json;

std::string_view role_text(NodeRole role) {
  switch (role) {
    case NodeRole::kHost: return "host";
    case NodeRole::kT0: return "T0";
    case NodeRole::kT1: return "T1";
    case NodeRole::kT2: return "T2";
  }
  return "?";
}

json describe_node(const Topology& topology, std::string_view lab, const NodeSite& site) {
  json node{{"name", site.name},
            {"role", role_text(site.role)},
            {"namespace", namespace_name(lab, site.name)},
            {"ports", json::array()}};
  if (site.role == NodeRole::kHost) {
    node["address"] = to_string(host_address(topology, site.index));
  } else {
    node["plane"] = site.plane;
    std::array<char, 5> usid{};
    std::snprintf(usid.data(), usid.size(), "%04x", site.usid.value);
    node["usid"] = usid.data();
  }
  if (site.role != NodeRole::kHost) node["forwarding"] = name_of(site.forwarding);
  for (const Port& port : site.ports) {
    node["ports"].push_back({{"name", port.name()},
                             {"mac", to_string(port.mac)},
                             {"peer", topology.port_name(port.peer)}});
  }
  return node;
}

/// "switchd", or "kernel and ovs".
std::string forwarding_words(const Topology& topology) {
  std::string words;
  for (const Forwarding by : kForwardings) {
    if (!topology.has_forwarding(by)) continue;
    if (!words.empty()) words += " and ";
    words += name_of(by);
  }
  return words;
}

}  // namespace

json describe_fabric(const Topology& topology, std::string_view lab,
                     const std::function<bool(LinkId)>& link_is_up) {
  json fabric{{"lab", lab},
              {"fabric", topology.name},
              {"planes", topology.planes},
              {"hosts", topology.host_count()},
              {"forwarding", forwarding_words(topology)},
              {"base_rtt_ns", topology.base_rtt.ns()},
              {"nodes", json::array()},
              {"links", json::array()}};
  for (const NodeSite& site : topology.nodes) {
    fabric["nodes"].push_back(describe_node(topology, lab, site));
  }
  for (const Link& link : topology.links) {
    fabric["links"].push_back({{"name", topology.link_name(link.id)},
                               {"rate_bps", link.rate.bps},
                               {"propagation_ns", link.propagation.ns()},
                               {"up", link_is_up(link.id)}});
  }
  return fabric;
}

json describe_paths(const Topology& topology, uint32_t from, uint32_t to) {
  json paths = json::array();
  for (const Path path : paths_between(topology, from, to)) {
    std::array<char, 11> ev{};
    std::snprintf(ev.data(), ev.size(), "0x%08x", ev_of(path).value);
    paths.push_back({{"ev", ev.data()},
                     {"path", to_string(path)},
                     {"carrier", to_string(make_carrier(topology, from, to, path))}});
  }
  return paths;
}

std::string fabric_text(const json& fabric) {
  std::string text = "lab " + fabric.at("lab").get<std::string>() + ": fabric " +
                     fabric.at("fabric").get<std::string>() + ", " +
                     counted_noun(fabric.at("planes").get<uint64_t>(), "plane") + ", " +
                     counted_noun(fabric.at("hosts").get<uint64_t>(), "host") + ", forwarding by " +
                     fabric.at("forwarding").get<std::string>() + "\n\n";
  std::vector<std::vector<std::string>> rows{
      {"NODE", "ROLE", "ADDRESS OR uSID", "FORWARDED BY", "PORTS"}};
  for (const json& node : fabric.at("nodes")) {
    std::string ports;
    for (const json& port : node.at("ports")) {
      if (!ports.empty()) ports += ' ';
      ports += port.at("name").get<std::string>();
    }
    rows.push_back({node.at("name").get<std::string>(), node.at("role").get<std::string>(),
                    node.value("address", node.value("usid", "")), node.value("forwarding", "-"),
                    ports});
  }
  if (rows.size() > 1) text += table(rows) + "\n";
  rows = {{"LINK", "RATE", "PROPAGATION", "STATE"}};
  for (const json& link : fabric.at("links")) {
    rows.push_back({link.at("name").get<std::string>(),
                    std::to_string(link.at("rate_bps").get<uint64_t>() / 1'000'000'000) + "Gb/s",
                    std::to_string(link.at("propagation_ns").get<int64_t>()) + "ns",
                    link.at("up").get<bool>() ? "up" : "DOWN"});
  }
  return text + (rows.size() > 1 ? table(rows) : "no link is to be shown\n");
}

std::string paths_text(const json& paths) {
  std::vector<std::vector<std::string>> rows{{"EV", "PATH", "CARRIER"}};
  for (const json& path : paths) {
    rows.push_back({path.at("ev").get<std::string>(), path.at("path").get<std::string>(),
                    path.at("carrier").get<std::string>()});
  }
  return table(rows);
}

}  // namespace mrclab::lab
