#pragma once
// Small networks of BGP speakers joined in memory: links that keep order and take a time, driven by one queue of
// events. What arrives where and when is a function of the speakers alone.

#include <doctest/doctest.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "routing/speaker/speaker.h"

namespace mrclab::test {

class SpeakerNet {
 public:
  using Speaker = routing::Speaker;
  using Prefix = routing::Prefix;

  struct LinkSpec {
    std::string a, b;
    BitRate rate = BitRate::from_gbps(100);
    BitRate rate_from_b{};  ///< 0: as `rate`
    bool a_is_host = false;
  };
  /// Changes to a node before it is made.
  using Adjust = std::function<void(routing::SpeakerParameters&)>;

  /// Links may come before or after nodes; all are made by start().
  void node(const std::string& name, uint32_t as, Adjust adjust = {}) {
    specs_.push_back({name, as, std::move(adjust)});
  }
  /// The index of the link.
  size_t link(const LinkSpec& spec) {
    links_.push_back({spec, {}, true, {}, {}});
    return links_.size() - 1;
  }

  void start() {
    for (size_t i = 0; i < specs_.size(); ++i) make(i);
    for (auto& node : nodes_) node->speaker->start(now);
  }

  /// Runs until nothing happens before `until`.
  void run(FabricTime until) {
    for (;;) {
      FabricTime next = FabricTime::never();
      for (auto& node : nodes_) next = std::min(next, node->speaker->deadline());
      for (const Link& link : links_) {
        if (!link.flying.empty()) next = std::min(next, link.flying.front().at);
      }
      if (next > until) break;
      now = std::max(now, next);
      deliver();
      for (auto& node : nodes_) {
        if (node->speaker->deadline() <= now || node->touched) node->speaker->run(now);
        node->touched = false;
      }
      ++events;
    }
    now = until;
  }
  void run_ms(int64_t ms) { run(now + FabricTime::from_ms(ms)); }

  Speaker& operator[](const std::string& name) { return *node_of(name).speaker; }
  /// Changes a node at once, and lets it run.
  void change(const std::string& name, const std::function<void(Speaker&)>& what) {
    what((*this)[name]);
    (*this)[name].run(now);
  }

  /// Both ends lose or get their light.
  void set_carrier(size_t link, bool up) {
    links_[link].up = up;
    if (!up) links_[link].flying.clear();
    for (const auto& end : {links_[link].a, links_[link].b}) {
      change(end.first, [&](Speaker& speaker) { speaker.set_carrier(end.second, up, now); });
    }
  }
  /// Packets are lost, and no speaker notices.
  void set_silent(size_t link, bool silent) { links_[link].silent = silent; }
  void set_rate(size_t link, BitRate rate) {
    for (const auto& end : {links_[link].a, links_[link].b}) {
      change(end.first, [&](Speaker& speaker) { speaker.set_rate(end.second, rate, now); });
    }
  }

  /// "l5*3 l6*3": next hops by the names of their neighbours, each as often as there are links to it, with weights.
  std::string hops(const std::string& name, const std::string& prefix) {
    Node& node = node_of(name);
    const auto found = node.fib.find(*Prefix::parse(prefix));
    if (found == node.fib.end() || !found->second.known) return "none";
    if (found->second.hops.empty()) return "drop";
    std::string text;
    for (const auto& hop : found->second.hops) {
      if (!text.empty()) text += ' ';
      text += node.neighbour_names.at(hop.port.value) + "*" + std::to_string(hop.weight);
    }
    return text;
  }
  /// Mb/s, rounded; -1: not advertised, or without bandwidth.
  int64_t told_mbps(const std::string& from, const std::string& to, const std::string& prefix) {
    Node& node = node_of(from);
    for (size_t i = 0; i < node.neighbour_names.size(); ++i) {
      if (node.neighbour_names[i] != to) continue;
      const auto told = node.speaker->advertised_bandwidth(*Prefix::parse(prefix),
                                                           static_cast<routing::PeerIndex>(i));
      return told ? static_cast<int64_t>((told->bps + 500'000) / 1'000'000) : -1;
    }
    return -2;
  }
  bool was_advertised(const std::string& from, const std::string& to, const std::string& prefix) {
    Node& node = node_of(from);
    for (size_t i = 0; i < node.neighbour_names.size(); ++i) {
      if (node.neighbour_names[i] == to &&
          node.speaker->was_advertised(*Prefix::parse(prefix),
                                       static_cast<routing::PeerIndex>(i))) {
        return true;
      }
    }
    return false;
  }
  size_t sessions(const std::string& name) {
    const Speaker& speaker = (*this)[name];
    size_t up = 0;
    for (size_t i = 0; i < speaker.neighbours(); ++i) {
      up += speaker.neighbour(static_cast<routing::PeerIndex>(i)).session() != nullptr;
    }
    return up;
  }
  /// What has happened at a node: "12.000ms up 3", "... down 3: carrier lost", "... fib 2001:db8::1/128".
  const std::vector<std::string>& log(const std::string& name) { return node_of(name).log; }
  void forget_logs() {
    for (auto& node : nodes_) node->log.clear();
  }

  FabricTime now = FabricTime::zero();
  FabricTime link_delay = FabricTime::from_us(1);
  uint64_t events = 0;
  /// Sees every packet that is sent.
  std::function<void(const routing::Octets&)> tap;

 private:
  using End = std::pair<std::string, PortId>;
  struct Flying {
    FabricTime at;
    bool to_a = false;
    routing::Octets packet;
  };
  struct Link {
    LinkSpec spec;
    std::deque<Flying> flying;
    bool up = true;
    End a, b;
    bool silent = false;
  };
  struct Spec {
    std::string name;
    uint32_t as;
    Adjust adjust;
  };
  struct Node : routing::SpeakerEvents {
    SpeakerNet* net = nullptr;
    std::string name;
    std::vector<std::string> neighbour_names;      // by port, which is the index of the peer
    std::vector<std::pair<size_t, bool>> link_of;  // by port: link, and are we its end a
    std::unique_ptr<Speaker> speaker;
    std::map<Prefix, routing::FibEntry> fib;
    std::vector<std::string> log;
    bool touched = false;

    void note(const std::string& what) { log.push_back(to_string(net->now) + " " + what); }
    void send(PortId port, routing::Octets packet, FabricTime now) override {
      const auto [index, is_a] = link_of[port.value];
      Link& link = net->links_[index];
      if (net->tap) net->tap(packet);
      if (!link.up || link.silent) return;
      link.flying.push_back({now + net->link_delay, !is_a, std::move(packet)});
    }
    void session_up(PortId port, FabricTime) override { note("up " + neighbour_names[port.value]); }
    void session_down(PortId port, const std::string& reason, FabricTime) override {
      note("down " + neighbour_names[port.value] + ": " + reason);
    }
    void fib_changed(const Prefix& prefix, const routing::FibEntry& entry, FabricTime) override {
      if (entry.known) {
        fib[prefix] = entry;
      } else {
        fib.erase(prefix);
      }
      note("fib " + to_string(prefix) + " " + std::to_string(entry.hops.size()));
    }
    void bound_met(PortId port, const std::string& what, FabricTime) override {
      note("bound " + neighbour_names[port.value] + ": " + what);
    }
  };

  Node& node_of(const std::string& name) {
    for (auto& node : nodes_) {
      if (node->name == name) return *node;
    }
    throw std::out_of_range("no node " + name);
  }

  void make(size_t index) {
    const Spec& spec = specs_[index];
    auto node = std::make_unique<Node>();
    node->net = this;
    node->name = spec.name;
    routing::SpeakerParameters parameters;
    parameters.node = NodeId{static_cast<uint32_t>(index)};
    parameters.as = routing::AsNumber{spec.as};
    parameters.router = routing::RouterId{static_cast<uint32_t>(0x0A00'0001 + index)};
    for (size_t i = 0; i < links_.size(); ++i) {
      for (const bool is_a : {true, false}) {
        if ((is_a ? links_[i].spec.a : links_[i].spec.b) != spec.name) continue;
        const PortId port{static_cast<uint32_t>(node->neighbour_names.size())};
        (is_a ? links_[i].a : links_[i].b) = {spec.name, port};
        node->link_of.emplace_back(i, is_a);
        node->neighbour_names.push_back(is_a ? links_[i].spec.b : links_[i].spec.a);
        parameters.neighbours.push_back(neighbour(i, is_a, port));
      }
    }
    if (spec.adjust) spec.adjust(parameters);
    node->speaker = std::make_unique<Speaker>(std::move(parameters), *node);
    nodes_.push_back(std::move(node));
  }

  routing::NeighbourParameters neighbour(size_t link, bool is_a, PortId port) const {
    const LinkSpec& spec = links_[link].spec;
    routing::NeighbourParameters made;
    made.port = port;
    made.local = address(link, is_a);
    made.remote = address(link, !is_a);
    made.rate = is_a || spec.rate_from_b.bps == 0 ? spec.rate : spec.rate_from_b;
    made.is_host = !is_a && spec.a_is_host;
    return made;
  }
  static Ipv6Address address(size_t link, bool is_a) {
    Ipv6Address made = *routing::parse_address("2001:db8:f::");
    made[13] = static_cast<uint8_t>(link >> 8);
    made[14] = static_cast<uint8_t>(link);
    made[15] = is_a ? 1 : 2;
    return made;
  }

  void deliver() {
    for (Link& link : links_) {
      while (!link.flying.empty() && link.flying.front().at <= now) {
        Flying flying = std::move(link.flying.front());
        link.flying.pop_front();
        const End& to = flying.to_a ? link.a : link.b;
        Node& node = node_of(to.first);
        node.touched = true;
        CHECK(node.speaker->receive(to.second, flying.packet, now));
      }
    }
  }

  std::vector<Spec> specs_;
  std::vector<Link> links_;
  std::vector<std::unique_ptr<Node>> nodes_;
};

}  // namespace mrclab::test
