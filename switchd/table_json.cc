#include "switchd/table_json.h"

#include "routing/node/speaker_json.h"

namespace mrclab::switchd {

using nlohmann::json;

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
    said["speaker"] = routing::speaker_json(node.topology(), node.self(), *speaker);
  }
  return said;
}

}  // namespace mrclab::switchd
