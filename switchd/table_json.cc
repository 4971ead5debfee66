#include "switchd/table_json.h"

#include "routing/node/speaker_json.h"

namespace mrclab::switchd {

using nlohmann::json;

namespace {

json reroute_json(const SwitchNode& node) {
  const FastReroute& reroute = *node.fast_reroute();
  const NodeSite& site = node.topology().node(node.self());
  json dead = json::array(), lost = json::object();
  for (uint32_t i = 0; i < site.ports.size(); ++i) {
    if (reroute.is_dead(PortId{i})) dead.push_back(site.ports[i].name());
    if (const uint32_t hosts = reroute.lost_behind(PortId{i})) lost[site.ports[i].name()] = hosts;
  }
  const RerouteCounters& counters = reroute.counters();
  return {{"scope", name_of(node.topology().routing.fare.fast_reroute)},
          {"dead", std::move(dead)},
          {"lost_behind", std::move(lost)},
          {"notices_out", counters.notices_out},
          {"notices_in", counters.notices_in},
          {"malformed", counters.malformed},
          {"refused", counters.refused}};
}

}  // namespace

nlohmann::json table_json(const SwitchNode& node) {
  nlohmann::json rows = nlohmann::json::array();
  node.usid_counts().for_each([&](uint16_t usid, const UsidCounters& counters) {
    rows.push_back({{"usid", usid},
                    {"packets", counters.packets},
                    {"bytes", counters.bytes},
                    {"errors", counters.errors}});
  });
  nlohmann::json routes = nlohmann::json::array();
  for (const auto& [usid, port] : node.table().routes()) {
    routes.push_back({{"usid", usid.value},
                      {"port", port.value},
                      {"adjacency", node.table().is_adjacency(usid)}});
  }
  nlohmann::json hosts = nlohmann::json::array();
  for (const std::vector<PortId>& ports : node.table().host_routes()) {
    nlohmann::json numbers = nlohmann::json::array();
    for (const PortId port : ports) numbers.push_back(port.value);
    hosts.push_back(std::move(numbers));
  }
  json said{
      {"own", node.table().own().value}, {"routes", routes}, {"hosts", hosts}, {"counters", rows}};
  if (const routing::Speaker* speaker = node.speaker()) {
    json weights = json::array();
    for (uint32_t host = 0; host < hosts.size(); ++host) {
      json list = json::array();
      for (const auto& hop : node.table().fare()->hops_to(host)) list.push_back(hop.weight);
      weights.push_back(std::move(list));
    }
    said["weights"] = std::move(weights);
    if (node.fast_reroute() != nullptr) said["fast_reroute"] = reroute_json(node);
    said["speaker"] = routing::speaker_json(node.topology(), node.self(), *speaker);
  }
  if (const NeighbourAgent* neighbours = node.neighbours()) {
    json heard = json::array();
    for (uint32_t i = 0; i < node.topology().node(node.self()).ports.size(); ++i) {
      if (neighbours->who(PortId{i}).empty()) continue;
      heard.push_back({{"port", i}, {"who", neighbours->who(PortId{i})}});
    }
    said["neighbours"] = std::move(heard);
  }
  return said;
}

}  // namespace mrclab::switchd
