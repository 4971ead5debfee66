#include "lab/sim_world.h"

#include <algorithm>

#include "fabric/effect_text.h"
#include "fabric/trailer.h"

namespace mrclab::lab {

/// Hands what a node starts to send to the node at the other end, at once: receive() may be called
/// ahead of time.
class SimWorld::Wires : public FrameSink {
 public:
  Wires(SimWorld& world, NodeId sender) : world_(world), sender_(sender) {}

  void transmit(Transmission transmission) override {
    const Port& port = world_.topology_.port({sender_, transmission.port});
    Arrival arrival;
    arrival.start = transmission.start;
    arrival.arrival = transmission.end + transmission.flight;
    arrival.sequence = world_.sequence_[port.out.value]++;
    arrival.lost = transmission.lost;
    arrival.frame = std::move(transmission.frame);
    if (arrival.lost != DropCause::kNone) cut_to_void(arrival.frame);
    world_.nodes_[port.peer.node.value]->receive(port.peer.port, std::move(arrival));
  }

 private:
  SimWorld& world_;
  NodeId sender_;
};

SimWorld::SimWorld(const Topology& topology, uint64_t seed,
                   const std::vector<ScheduledEffect>& schedule, const MakeNode& make_node,
                   const ObserverOf& observer_of)
    : topology_(topology), sequence_(topology.wires_list.size(), 0) {
  for (const NodeSite& site : topology.nodes) {
    nodes_.push_back(make_node({topology, site.id, seed, frames_, observer_of(site.id)}));
  }
  for (const ScheduledEffect& effect : schedule) {
    for_each_concerned(topology, effect.effect,
                       [&](NodeId node) { nodes_[node.value]->apply(effect); });
  }
  for (const Wire& wire : topology.wires_list) {
    lookahead_ = std::min(lookahead_, topology.lookahead(wire.id));
  }
}

SimWorld::~SimWorld() {
  nodes_.clear();  // before the pool that their frames go back to
}

bool SimWorld::run_until(FabricTime until) {
  while (now_ < until) {
    FabricTime earliest = FabricTime::never();
    for (const auto& node : nodes_) earliest = std::min(earliest, node->next_event());
    if (earliest > until) {
      now_ = until;
      return earliest != FabricTime::never();
    }
    // Nothing that starts at `earliest` or later needs an event before earliest + lookahead.
    const FabricTime step = std::min(until, earliest + lookahead_ - FabricTime::from_ps(1));
    for (uint32_t i = 0; i < nodes_.size(); ++i) {
      Wires wires(*this, NodeId{i});
      nodes_[i]->run_until(step, wires);
    }
    now_ = step;
  }
  return true;
}

}  // namespace mrclab::lab
