#include "endpoint/host/host_table.h"

#include "endpoint/host/host_routes.h"
#include "routing/node/speaker_json.h"

namespace mrclab::endpoint {

nlohmann::json table_json(const Topology& topology, const HostNode& node) {
  using nlohmann::json;
  const HostRoutes* routes = node.routes();
  if (routes == nullptr) return nullptr;
  json hosts = json::array(), weights = json::array();
  for (uint32_t host = 0; host < topology.host_count(); ++host) {
    json ports = json::array(), of_ports = json::array();
    const std::vector<uint32_t> planes = routes->plane_weights(host);
    for (uint32_t plane = 0; plane < planes.size(); ++plane) {
      if (planes[plane] == 0) continue;
      ports.push_back(plane);
      of_ports.push_back(planes[plane]);
    }
    hosts.push_back(std::move(ports));
    weights.push_back(std::move(of_ports));
  }
  return {{"hosts", std::move(hosts)},
          {"weights", std::move(weights)},
          {"speaker", routing::speaker_json(topology, routes->self(), routes->speaker())}};
}

}  // namespace mrclab::endpoint
