#pragma once
// All switches of a plane, joined by their wires; hosts are whatever the test sends and reads. Nodes run in
// the order of their next events, as in the simulator.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fabric/packet/pause_frame.h"
#include "fixture.h"

namespace mrclab::switchd::testing {

class WiredPlane {
 public:
  explicit WiredPlane(const FabricShape& shape) : WiredPlane(build_topology(shape)) {}
  explicit WiredPlane(Topology fabric) : topology(std::move(fabric)) {
    for (const NodeSite& site : topology.nodes) {
      if (site.role == NodeRole::kHost) continue;
      auto place = std::make_unique<Place>();
      place->node =
          std::make_unique<SwitchNode>(NodeEnvironment{topology, site.id, 1, pool, place->notes});
      places_[site.id.value] = std::move(place);
    }
  }

  struct Delivered {
    FabricTime at;
    std::vector<uint8_t> bytes;
  };

  /// A host's NIC begins to send these bytes at `start`.
  void send(uint32_t host, FabricTime start, const std::vector<uint8_t>& bytes) {
    const Wire& wire = topology.wire(topology.node(topology.host(host)).ports[0].out);
    Frame frame = pool.copy(bytes);
    const FabricTime end = start + serialization_time(frame.wire_length(), wire.rate);
    carry(wire, {PortId{0}, std::move(frame), start, end, wire.propagation, DropCause::kNone});
  }
  void run(FabricTime until) {
    while (Place* next = earliest(until)) {
      next->node->run_until(next->node->next_event(), next->notes);
      for (; next->read < next->notes.sent.size(); ++next->read) pass_on(*next);
    }
  }

  void apply(FabricTime at, NodeId node, const Effect& effect) {
    places_.at(node.value)->node->apply({at, effect, effect_sequence_++});
  }

  Notebook& notes(const std::string& node) { return place(node).notes; }
  const SwitchNode& node(const std::string& node) { return *place(node).node; }
  /// Is a host's NIC not paused, by the pauses that it received?
  bool may_send(uint32_t host, FabricTime t) const {
    const auto paused = paused_.find(host);
    return paused == paused_.end() || t < paused->second.first || t >= paused->second.second;
  }
  /// Frames that came to a host, pauses aside.
  const std::vector<Delivered>& delivered(uint32_t host) { return delivered_[host]; }
  /// When a switch sent requests to stop by a port.
  std::vector<FabricTime> stops(const std::string& name, PortId port) {
    std::vector<FabricTime> out;
    for (const Sent& sent : notes(name).sent) {
      if (sent.port == port && lossless_quanta(sent.bytes).value_or(0) > 0)
        out.push_back(sent.start);
    }
    return out;
  }
  size_t drops() {
    size_t all = 0;
    for (auto& [id, place] : places_) all += place->notes.drops().size();
    return all;
  }

  Topology topology;
  FramePool pool;

 private:
  struct Place {
    Notebook notes;
    std::unique_ptr<SwitchNode> node;
    size_t read = 0;
  };

  Place& place(const std::string& name) {
    return *places_.at(topology.find_node(name).value().value);
  }
  Place* earliest(FabricTime until) {
    Place* first = nullptr;
    for (auto& [id, place] : places_) {
      if (place->node->next_event() > until) continue;
      if (!first || place->node->next_event() < first->node->next_event()) first = place.get();
    }
    return first;
  }
  void pass_on(Place& from) {
    const Sent& sent = from.notes.sent[from.read];
    const Wire& wire = topology.wire(topology.port({id_of(from), sent.port}).out);
    carry(wire, {sent.port, pool.copy(sent.bytes), sent.start, sent.end, sent.flight, sent.lost});
  }
  NodeId id_of(const Place& place) const {
    for (const auto& [id, each] : places_) {
      if (each.get() == &place) return NodeId{id};
    }
    return {};
  }
  void carry(const Wire& wire, Transmission transmission) {
    const FabricTime at = transmission.end + transmission.flight;
    if (topology.node(wire.to.node).role == NodeRole::kHost) {
      const auto bytes = transmission.frame.bytes();
      const uint32_t host = topology.node(wire.to.node).index;
      if (const auto quanta = lossless_quanta(bytes)) {
        const FabricTime heard = at + topology.host_latency;
        auto& [from, until] = paused_[host];
        if (until < heard) from = heard;  // else the pause before goes on
        until = heard + pause_time(*quanta, wire.rate);
        return;
      }
      delivered_[host].push_back({at, {bytes.begin(), bytes.end()}});
      return;
    }
    Arrival arrival;
    arrival.frame = std::move(transmission.frame);
    arrival.start = transmission.start;
    arrival.arrival = at;
    arrival.sequence = sequence_++;
    places_.at(wire.to.node.value)->node->receive(wire.to.port, std::move(arrival));
  }

  std::map<uint32_t, std::unique_ptr<Place>> places_;
  std::map<uint32_t, std::vector<Delivered>> delivered_;
  std::map<uint32_t, std::pair<FabricTime, FabricTime>> paused_;  // by host: from when until when
  uint64_t sequence_ = 0, effect_sequence_ = 0;
};

}  // namespace mrclab::switchd::testing
