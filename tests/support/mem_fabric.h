#pragma once
// A whole fabric in one test process: real HostNodes and SwitchNodes, wires in memory, fabric time
// driven conservatively. No trailer, no kernel: a Transmission becomes the peer's Arrival.
//
//   next = earliest event of all nodes; every node may run until next + (smallest lookahead) - 1
//   ps, since nothing that starts from `next` on can be processed anywhere before that.
//
// `shuffle` delivers and runs in a random order of calls, which must change nothing.

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

class MemFabric {
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

  MemFabric(Topology of, Options options)
      : topology(std::move(of)),
        observers(topology.nodes.size()),
        options_(std::move(options)),
        random_(options_.shuffle) {
    sequences_.resize(topology.wires_list.size());
    lookahead_ = FabricTime::never();
    for (const Wire& wire : topology.wires_list) {
      lookahead_ = std::min(lookahead_, topology.lookahead(wire.id));
    }
    endpoint::HostConfig config;
    const endpoint::TransportProfile common =
        options_.profile.value_or(endpoint::make_profile("lab", topology));
    config.workloads = options_.workloads;
    config.end = options_.end;
    for (const NodeSite& site : topology.nodes) {
      const NodeEnvironment environment{topology, site.id, options_.seed, frames,
                                        observers[site.id.value]};
      if (site.role == NodeRole::kHost) {
        const auto own = options_.host_profiles.find(site.index);
        config.transport = own != options_.host_profiles.end() ? own->second : common;
        auto host = std::make_unique<endpoint::HostNode>(environment, config);
        hosts_.push_back(host.get());
        nodes_.push_back(std::move(host));
      } else {
        nodes_.push_back(std::make_unique<switchd::SwitchNode>(environment));
      }
    }
  }

  endpoint::HostNode& host(uint32_t index) { return *hosts_[index]; }
  endpoint::HostStats stats(uint32_t index) const { return hosts_[index]->stats(); }
  RecordingObserver& observer(uint32_t host_index) { return observers[host_index]; }
  RecordingObserver& node_observer(NodeId node) { return observers[node.value]; }

  /// Goes to the nodes, which pick out what concerns them.
  void apply(FabricTime at, const Effect& effect) {
    const ScheduledEffect scheduled{at, effect, next_effect_++, 0, false};
    for (auto& node : nodes_) node->apply(scheduled);
  }
  /// Both wires and both carriers of a link.
  void set_link(FabricTime at, LinkId id, bool up) {
    const Link& link = topology.link(id);
    apply(at, WireState{link.a_to_b, up});
    apply(at, WireState{link.b_to_a, up});
    apply(at, PortCarrier{link.a, up});
    apply(at, PortCarrier{link.b, up});
  }
  /// Both wires change, and no node is told: a silent failure.
  void set_wires(FabricTime at, LinkId id, bool up) {
    apply(at, WireState{topology.link(id).a_to_b, up});
    apply(at, WireState{topology.link(id).b_to_a, up});
  }
  LinkId link_of(std::string_view port) const {
    return topology.port(topology.find_port(port).value()).link;
  }

  /// Runs until `until`, or until every host has finished its work.
  void run_until(FabricTime until) {
    std::vector<size_t> order(nodes_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    while (true) {
      FabricTime next = FabricTime::never();
      for (const auto& node : nodes_) next = std::min(next, node->next_event());
      if (next > until) break;
      const FabricTime horizon = std::min(until, next + lookahead_ - FabricTime::from_ps(1));
      if (options_.shuffle != 0) std::shuffle(order.begin(), order.end(), random_);
      for (const size_t i : order) {
        if (nodes_[i]->next_event() > horizon) continue;
        Sink sink(*this, NodeId{static_cast<uint32_t>(i)});
        nodes_[i]->run_until(horizon, sink);
      }
      if (options_.shuffle != 0) {
        std::shuffle(in_flight_.begin(), in_flight_.end(), random_);
        for (auto& [ref, arrival] : in_flight_) {
          nodes_[ref.node.value]->receive(ref.port, std::move(arrival));
        }
        in_flight_.clear();
      }
      now_ = horizon;
      if (stop_when_finished &&
          std::all_of(hosts_.begin(), hosts_.end(), [](auto* h) { return h->finished(); })) {
        break;
      }
    }
  }
  FabricTime now() const { return now_; }
  uint64_t hash() const {
    uint64_t h = 0;
    for (const RecordingObserver& o : observers) h = h * 31 + o.hash();
    return h;
  }
  uint64_t delivered() const { return delivered_; }

  Topology topology;
  FramePool frames;
  std::vector<RecordingObserver> observers;
  bool stop_when_finished = true;

 private:
  class Sink : public FrameSink {
   public:
    Sink(MemFabric& fabric, NodeId node) : fabric_(fabric), node_(node) {}
    void transmit(Transmission&& t) override {
      const Port& port = fabric_.topology.port({node_, t.port});
      Arrival arrival;
      arrival.start = t.start;
      arrival.arrival = t.end + t.flight;
      arrival.sequence = fabric_.sequences_[port.out.value]++;
      arrival.lost = t.lost;
      arrival.frame = std::move(t.frame);
      ++fabric_.delivered_;
      if (fabric_.options_.shuffle != 0) {
        fabric_.in_flight_.emplace_back(port.peer, std::move(arrival));
      } else {
        fabric_.nodes_[port.peer.node.value]->receive(port.peer.port, std::move(arrival));
      }
    }

   private:
    MemFabric& fabric_;
    NodeId node_;
  };

  Options options_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<endpoint::HostNode*> hosts_;
  std::vector<uint64_t> sequences_;
  std::vector<std::pair<PortRef, Arrival>> in_flight_;
  std::mt19937 random_;
  FabricTime lookahead_;
  FabricTime now_;
  uint64_t next_effect_ = 0;
  uint64_t delivered_ = 0;
};

}  // namespace mrclab::test
