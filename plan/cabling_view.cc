#include "plan/cabling_view.h"

#include <memory>
#include <vector>

#include "analysis/orchestrator/orchestrator_collector.h"
#include "endpoint/host/host_node.h"
#include "endpoint/options/profile_maker.h"
#include "fabric/packet/frame.h"
#include "fabric/topology/build_topology.h"
#include "sim/sim_world.h"
#include "switchd/switch_node.h"

namespace mrclab::lab {
namespace {

constexpr int64_t kPeriodsShown = 2;

/// Adds the events of one node.
class EventsOf : public NodeObserver {
 public:
  EventsOf(analysis::EventHistory& events, NodeId node) : events_(events), node_(node) {}
  void packet(const PacketRecord&) override {}
  void event(const EventRecord& record) override { events_.add(node_, record); }

 private:
  analysis::EventHistory& events_;
  NodeId node_;
};

}  // namespace

analysis::OrchestratorResult discover_fabric(FabricShape shape) {
  shape.orchestrator.on = true;
  const Topology topology = build_topology(shape);
  analysis::EventHistory events(topology);
  events.listen();
  std::vector<EventsOf> observers;
  observers.reserve(topology.nodes.size());
  for (const NodeSite& site : topology.nodes) observers.emplace_back(events, site.id);
  endpoint::HostConfig idle;
  idle.transport = endpoint::make_profile("lab", topology);
  SimWorld world(
      topology, {.room = kHeaderRoom},
      [&](const NodeEnvironment& environment) -> std::unique_ptr<Node> {
        if (topology.node(environment.self).role != NodeRole::kHost) {
          return std::make_unique<switchd::SwitchNode>(environment);
        }
        return std::make_unique<endpoint::HostNode>(environment, idle);
      },
      [&](NodeId node) -> NodeObserver& { return observers[node.value]; });
  world.run_until(topology.orchestrator.period.at(topology.base_rtt) * kPeriodsShown);
  events.finish();
  return *analysis::orchestrator_result(topology, events, {});
}

}  // namespace mrclab::lab
