#pragma once
// The simulated world: the same nodes, wires and faults in one process and virtual time. No root,
// no namespaces, no clock.

#include <functional>
#include <memory>
#include <vector>

#include "fabric/effect.h"
#include "fabric/node.h"
#include "fabric/topology.h"

namespace mrclab::lab {

class SimWorld {
 public:
  using MakeNode = std::function<std::unique_ptr<Node>(const NodeEnvironment&)>;
  using ObserverOf = std::function<NodeObserver&(NodeId)>;

  /// `topology` and the observers outlive the world.
  SimWorld(const Topology& topology, uint64_t seed, const std::vector<ScheduledEffect>& schedule,
           const MakeNode& make_node, const ObserverOf& observer_of);
  ~SimWorld();

  /// Processes every event up to `until`. Returns false when nothing is left to happen.
  bool run_until(FabricTime until);
  FabricTime now() const { return now_; }
  const Node& node(NodeId id) const { return *nodes_[id.value]; }

 private:
  class Wires;

  const Topology& topology_;
  FramePool frames_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<uint64_t> sequence_;  ///< by wire
  FabricTime lookahead_ = FabricTime::never();
  FabricTime now_ = FabricTime::from_ps(-1);
};

}  // namespace mrclab::lab
