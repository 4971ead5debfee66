#pragma once
// A whole fabric in the simulated world (sim/sim_world.h): real HostNodes and SwitchNodes, each with an observer that
// keeps what it recorded.
//
// With `shuffle` a node gets what arrives in a random order of calls, and no sooner than it must, which must change
// nothing.

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "endpoint/host/host_node.h"
#include "endpoint/options/profile_maker.h"
#include "fabric/node/node.h"
#include "sim/sim_world.h"
#include "switchd/switch_node.h"

namespace mrclab::test {

/// Keeps the events of a node and a running hash of everything it recorded.
class RecordingObserver : public NodeObserver {
 public:
  void packet(const PacketRecord& r) override {
    mix(static_cast<uint64_t>(r.t.ps()));
    mix(r.port.value);
    mix(static_cast<uint64_t>(r.direction) << 16 | static_cast<uint64_t>(r.event) << 8 |
        static_cast<uint64_t>(r.cause));
    for (const uint8_t byte : r.frame ? r.frame.bytes().first(std::min<size_t>(r.frame.size(), 150))
                                      : std::span<const uint8_t>{}) {
      hash_ = (hash_ ^ byte) * 0x100'0000'01B3;
    }
    ++packets[{r.direction, r.event, r.cause}];
    if (r.event == PacketEvent::kPassed && r.direction == Direction::kEgress) ++egress;
    if (on_packet) on_packet(r);
  }
  void event(const EventRecord& r) override {
    mix(static_cast<uint64_t>(r.t.ps()));
    for (const char c : r.kind) mix(static_cast<uint64_t>(c));
    for (const char c : r.cause) mix(static_cast<uint64_t>(c));
    if (r.ev) mix(r.ev->value);
    if (r.psn) mix(r.psn->value());
    events.push_back({r.t, std::string(r.kind), r.ev, std::string(r.cause), r.detail});
  }
  uint64_t hash() const { return hash_; }

  struct Event {
    FabricTime t;
    std::string kind;
    std::optional<EntropyValue> ev;
    std::string cause;
    std::string detail;
  };
  size_t count(std::string_view kind, std::string_view cause = {}) const {
    return static_cast<size_t>(std::count_if(events.begin(), events.end(), [&](const Event& e) {
      return e.kind == kind && (cause.empty() || e.cause == cause);
    }));
  }
  std::vector<Event> events;
  std::map<std::tuple<Direction, PacketEvent, DropCause>, uint64_t> packets;
  uint64_t egress = 0;
  std::function<void(const PacketRecord&)> on_packet;

 private:
  void mix(uint64_t value) { hash_ = (hash_ ^ value) * 0x100'0000'01B3; }
  uint64_t hash_ = 0xCBF2'9CE4'8422'2325;
};

/// Writes without end from `from` to `to`.
inline endpoint::WriteSpec endless(uint32_t from, uint32_t to) {
  endpoint::WriteSpec spec;
  spec.from = from;
  spec.to = to;
  spec.size = {256 * 1024};
  spec.count = 1'000'000;
  return spec;
}

/// Hands its node what has arrived when the node is run, in a random order.
class ShuffledNode : public Node {
 public:
  ShuffledNode(std::unique_ptr<Node> node, uint32_t seed) : node_(std::move(node)), random_(seed) {}

  void receive(PortId port, Arrival&& arrival) override {
    waiting_.emplace_back(port, std::move(arrival));
  }
  void apply(const ScheduledEffect& effect) override { node_->apply(effect); }
  FabricTime next_event() const override {
    FabricTime next = node_->next_event();
    for (const auto& [port, arrival] : waiting_) next = std::min(next, arrival.arrival);
    return next;
  }
  void run_until(FabricTime committed, FrameSink& out) override {
    std::shuffle(waiting_.begin(), waiting_.end(), random_);
    for (auto& [port, arrival] : waiting_) node_->receive(port, std::move(arrival));
    waiting_.clear();
    node_->run_until(committed, out);
  }

 private:
  std::unique_ptr<Node> node_;
  std::mt19937 random_;
  std::vector<std::pair<PortId, Arrival>> waiting_;
};

class SimFabric {
 public:
  struct Options {
    uint64_t seed = 1;
    std::vector<endpoint::WorkloadSpec> workloads;
    FabricTime end = FabricTime::never();
    std::optional<endpoint::TransportProfile> profile;
    std::map<uint32_t, endpoint::TransportProfile>
        host_profiles;     ///< by host, instead of `profile`
    uint32_t shuffle = 0;  ///< not 0: seed of a random order of calls
  };

  SimFabric(Topology of, Options options)
      : topology(std::move(of)),
        observers(topology.nodes.size()),
        options_(std::move(options)),
        common_(options_.profile.value_or(endpoint::make_profile("lab", topology))),
        world_(
            topology, {.seed = options_.seed},
            [this](const NodeEnvironment& environment) { return make_node(environment); },
            [this](NodeId node) -> NodeObserver& { return observers[node.value]; }) {}

  endpoint::HostNode& host(uint32_t index) { return *hosts_[index]; }
  endpoint::HostStats stats(uint32_t index) const { return hosts_[index]->stats(); }
  RecordingObserver& observer(uint32_t host_index) { return observers[host_index]; }
  RecordingObserver& node_observer(NodeId node) { return observers[node.value]; }
  FramePool& frames() { return *frames_; }

  /// Goes to the nodes, which pick out what concerns them.
  void apply(FabricTime at, const Effect& effect) {
    const ScheduledEffect scheduled{at, effect, next_effect_++, 0, false};
    for (Node* node : nodes_) node->apply(scheduled);
  }
  /// Both wires and both carriers of a link.
  void set_link(FabricTime at, LinkId id, bool up) {
    const Link& link = topology.link(id);
    apply(at, WireState{link.a_to_b(), up});
    apply(at, WireState{link.b_to_a(), up});
    apply(at, PortCarrier{link.a, up});
    apply(at, PortCarrier{link.b, up});
  }
  /// Both wires change, and no node is told: a silent failure.
  void set_wires(FabricTime at, LinkId id, bool up) {
    apply(at, WireState{topology.link(id).a_to_b(), up});
    apply(at, WireState{topology.link(id).b_to_a(), up});
  }
  LinkId link_of(std::string_view port) const {
    return topology.port(topology.find_port(port).value()).link;
  }

  /// Runs until `until`, or until every host has finished its work.
  void run_until(FabricTime until) {
    world_.run_until(until, [this](FabricTime) {
      return !stop_when_finished ||
             !std::all_of(hosts_.begin(), hosts_.end(), [](auto* h) { return h->finished(); });
    });
  }
  /// A host got an event from another one past the wires.
  void plan(uint32_t index) { world_.plan(topology.host(index)); }
  FabricTime now() const { return world_.now(); }
  uint64_t hash() const {
    uint64_t h = 0;
    for (const RecordingObserver& o : observers) h = h * 31 + o.hash();
    return h;
  }

  Topology topology;
  std::vector<RecordingObserver> observers;
  bool stop_when_finished = true;

 private:
  std::unique_ptr<Node> make_node(const NodeEnvironment& environment) {
    frames_ = &environment.frames;
    const NodeSite& site = topology.node(environment.self);
    std::unique_ptr<Node> node;
    if (site.role == NodeRole::kHost) {
      endpoint::HostConfig config;
      config.workloads = options_.workloads;
      config.end = options_.end;
      const auto own = options_.host_profiles.find(site.index);
      config.transport = own != options_.host_profiles.end() ? own->second : common_;
      auto host = std::make_unique<endpoint::HostNode>(environment, config);
      hosts_.push_back(host.get());
      node = std::move(host);
    } else {
      node = std::make_unique<switchd::SwitchNode>(environment);
    }
    if (options_.shuffle != 0) {
      node = std::make_unique<ShuffledNode>(std::move(node), options_.shuffle + site.id.value);
    }
    nodes_.push_back(node.get());
    return node;
  }

  Options options_;
  endpoint::TransportProfile common_;
  FramePool* frames_ = nullptr;
  std::vector<Node*> nodes_;
  std::vector<endpoint::HostNode*> hosts_;
  uint64_t next_effect_ = 0;
  lab::SimWorld world_;
};

}  // namespace mrclab::test
