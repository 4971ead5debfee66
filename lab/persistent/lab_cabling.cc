#include "lab/persistent/lab_cabling.h"

#include "analysis/orchestrator/orchestrator_collector.h"
#include "fabric/node/event_kind.h"
#include "fabric/text/input_error.h"
#include "live/inspect/switch_table.h"

namespace mrclab::lab {
namespace {

/// As if a node had reported it.
void add_heard(analysis::EventHistory& events, PortRef port, std::string who) {
  events.add(port.node, {FabricTime::zero(),
                         event_kind::kNeighbour,
                         port.port,
                         {},
                         {},
                         {},
                         name_of(NeighbourNews::Kind::kFound),
                         std::move(who)});
}

}  // namespace

analysis::OrchestratorResult discover_lab(const Topology& topology, const LabRecord& record) {
  if (!topology.orchestrator.on) {
    throw InputError("lab " + record.lab +
                     ": found no orchestrator: expected \"orchestrator: on\" in its fabric");
  }
  analysis::EventHistory events(topology);
  events.listen();
  for (const NodeSite& site : topology.nodes) {
    if (site.role == NodeRole::kHost || site.forwarding != Forwarding::kSwitchd) continue;
    const nlohmann::json table = switch_table(topology, record, site.id);
    for (const nlohmann::json& row : table.value("neighbours", nlohmann::json::array())) {
      const std::string who = row.at("who").get<std::string>();
      const PortRef here{site.id, PortId{row.at("port").get<uint32_t>()}};
      if (here.port.value >= site.ports.size()) continue;
      add_heard(events, here, who);
      // A host is not asked: it is at the other end of what its switch hears.
      const auto peer = topology.find_port(who);
      if (peer && topology.node(peer->node).role == NodeRole::kHost) {
        add_heard(events, *peer, topology.port_name(here));
      }
    }
  }
  events.finish();
  return *analysis::orchestrator_result(topology, events, {});
}

}  // namespace mrclab::lab
