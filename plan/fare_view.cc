#include "plan/fare_view.h"

#include <fmt/format.h>

#include <map>

#include "console/terminal.h"
#include "endpoint/host/host_node.h"
#include "endpoint/host/host_routes.h"
#include "endpoint/options/profile_maker.h"
#include "fabric/node/event_kind.h"
#include "fabric/text/counted_noun.h"
#include "fabric/text/yaml.h"
#include "fabric/topology/fare.h"
#include "fabric/topology/path.h"
#include "plan/path_trace.h"
#include "sim/sim_world.h"
#include "switchd/switch_node.h"

namespace mrclab::lab {
namespace {

using Json = nlohmann::ordered_json;

/// Notes the last change of a table.
class LastChange : public NodeObserver {
 public:
  void packet(const PacketRecord&) override {}
  void event(const EventRecord& record) override {
    if (record.kind == event_kind::kFib) at = std::max(at, record.t);
  }
  FabricTime at;
};

std::string in_gbps(BitRate rate) {
  return fmt::format("{:g}", static_cast<double>(rate.bps / 1'000'000) / 1000);
}

class FareView {
 public:
  FareView(const Topology& topology, const FareQuestion& question)
      : topology_(routing(topology)),
        from_(numbered_host(topology, question.from)),
        to_(other_host(topology, question)),
        ready_(fare_ready(topology)),
        world_(
            topology, {.schedule = schedule(question)},
            [this](const NodeEnvironment& environment) -> std::unique_ptr<Node> {
              if (environment.topology.node(environment.self).role == NodeRole::kHost) {
                return std::make_unique<endpoint::HostNode>(environment, idle_hosts());
              }
              return std::make_unique<switchd::SwitchNode>(environment);
            },
            [this](NodeId) -> NodeObserver& { return last_; }) {
    world_.run_until(question.down ? ready_ * 2 : ready_);
    const FabricTime begin = question.down ? ready_ : FabricTime::zero();
    json_ = {{"fabric", topology.name},
             {"from", question.from},
             {"to", question.to},
             {"spray", name_of(topology.routing.fare.spray)},
             {"delays", name_of(topology.routing.fare.delays)}};
    if (question.down) json_["down"] = *question.down;
    json_["converged_ps"] = std::max(last_.at - begin, FabricTime::zero()).ps();
    const auto& sender = dynamic_cast<const endpoint::HostNode&>(world_.node(topology.host(from_)));
    if (sender.routes() != nullptr) json_["weights"] = sender.routes()->plane_weights(to_);
    json_["planes"] = Json::array();
    for (uint32_t plane = 0; plane < topology.planes; ++plane) add_plane(plane);
  }

  Json take() { return std::move(json_); }

 private:
  static const Topology& routing(const Topology& topology) {
    if (topology.routing.is_fare()) return topology;
    throw InputError(fmt::format(
        "found the fabric {}, whose switches do not route by themselves: expected one with "
        "\"routing: fare\"",
        topology.name));
  }

  static uint32_t other_host(const Topology& topology, const FareQuestion& question) {
    if (question.from == question.to) {
      throw InputError(fmt::format("{} twice: expected two hosts", question.from));
    }
    return numbered_host(topology, question.to);
  }

  std::vector<ScheduledEffect> schedule(const FareQuestion& question) const {
    if (!question.down) return {};
    const auto port = topology_.find_port(*question.down);
    if (!port) {
      throw InputError(fmt::format("found {}, which is no port: expected one such as p0.t0-0:u0",
                                   in_quotes(*question.down)));
    }
    return {{ready_, PortCarrier{*port, false}, 0},
            {ready_, PortCarrier{topology_.port(*port).peer, false}, 1}};
  }

  const switchd::SwitchNode& switch_at(NodeId node) const {
    return dynamic_cast<const switchd::SwitchNode&>(world_.node(node));
  }

  void add_plane(uint32_t plane) {
    double arrives = 0;
    Json switches = Json::array();
    // What each switch gets; tiers are few, and no route leads up again.
    std::map<NodeId, double> gets{
        {topology_.port({topology_.host(from_), PortId{plane}}).peer.node, 100}};
    for (size_t tier = 0; tier < topology_.longest_path && !gets.empty(); ++tier) {
      std::map<NodeId, double> next;
      for (const auto& [node, share] : gets) {
        switches.push_back(hops_of(node, share));
        for (const auto& [port, part] : parts_of(node, share)) {
          const NodeId peer = topology_.port({node, port}).peer.node;
          if (topology_.node(peer).role != NodeRole::kHost) {
            next[peer] += part;
          } else if (switch_at(node).counters().ports[port.value].carrier) {
            arrives += part;
          }
        }
      }
      gets = std::move(next);
    }
    json_["planes"].push_back({{"plane", plane}, {"arrives", arrives}, {"switches", switches}});
  }

  std::vector<std::pair<PortId, double>> parts_of(NodeId node, double share) const {
    const auto& hops = switch_at(node).table().fare()->hops_to(to_);
    double sum = 0;
    for (const auto& hop : hops) sum += hop.weight;
    std::vector<std::pair<PortId, double>> parts;
    for (const auto& hop : hops) parts.emplace_back(hop.port, share * hop.weight / sum);
    return parts;
  }

  Json hops_of(NodeId node, double share) const {
    Json hops = Json::array();
    const auto& list = switch_at(node).table().fare()->hops_to(to_);
    const auto parts = parts_of(node, share);
    for (size_t i = 0; i < list.size(); ++i) {
      const Port& port = topology_.port({node, list[i].port});
      Json hop{{"port", port.name()},
               {"to", topology_.node(port.peer.node).name},
               {"weight", list[i].weight},
               {"share", parts[i].second}};
      explain_hop(node, list[i].port, hop);
      hops.push_back(std::move(hop));
    }
    return {{"switch", topology_.node(node).name}, {"gets", share}, {"hops", hops}};
  }

  /// Hosts that speak where NICs do and send nothing; the two of the question will, later.
  endpoint::HostConfig idle_hosts() const {
    endpoint::HostConfig config;
    config.transport = endpoint::make_profile("lab", topology_);
    endpoint::WriteSpec later;
    later.from = from_;
    later.to = to_;
    later.size = {1};
    later.count = 1;
    later.at = ready_ * 4;
    config.workloads.emplace_back(later);
    return config;
  }

  /// The receiver's own route, or that of its row.
  const routing::RouteEntry* entry_at(NodeId node) const {
    const routing::RouteTable& table = switch_at(node).speaker()->table();
    const routing::Prefix prefix = routing::Prefix::host(host_address(topology_, to_));
    const auto found = table.routes().find(prefix);
    if (found != table.routes().end()) return &found->second;
    const auto* covering = table.covering(
        prefix, [](const routing::RouteEntry& entry) { return !entry.chosen.empty(); });
    return covering != nullptr ? &covering->second : nullptr;
  }

  /// What the neighbour announced, and from what it computed that.
  void explain_hop(NodeId node, PortId port, Json& hop) const {
    const PortRef peer = topology_.port({node, port}).peer;
    if (topology_.node(peer.node).role == NodeRole::kHost) {
      hop["why"] = "its own host";
      return;
    }
    const routing::Speaker& speaker = *switch_at(node).speaker();
    const routing::RouteEntry* entry = entry_at(node);
    for (size_t i = 0; entry != nullptr && i < speaker.neighbours(); ++i) {
      const auto index = static_cast<routing::PeerIndex>(i);
      if (!(speaker.neighbour(index).parameters().port == port)) continue;
      const routing::Path* path = entry->path_of(index);
      if (path != nullptr && path->bandwidth)
        hop["mbps"] = (path->bandwidth->bps + 500'000) / 1'000'000;
    }
    const routing::RouteEntry* there = entry_at(peer.node);
    if (there == nullptr) return;
    if (const routing::Path* own = there->path_of(routing::kOwn); own && !own->bandwidth) {
      hop["why"] = "its own host, at the link's rate";
      return;
    }
    hop["why"] = fmt::format("has {} Gb/s, {} out", in_gbps(rounded(there->heard)),
                             counted_noun(there->ways_out, "way"));
  }

  /// A float32 reads 24.999999 for 25.
  static BitRate rounded(BitRate rate) { return {(rate.bps + 500'000) / 1'000'000 * 1'000'000}; }

  const Topology& topology_;
  uint32_t from_, to_;
  FabricTime ready_;
  LastChange last_;
  SimWorld world_;
  Json json_;
};

}  // namespace

Json explain_fare(const Topology& topology, const FareQuestion& question) {
  return FareView(topology, question).take();
}

std::string fare_text(const Json& fare) {
  std::string text = fmt::format(
      "fabric     {}, {} to {}, spray: {}, delays: {}\n", fare.at("fabric").get<std::string>(),
      fare.at("from").get<std::string>(), fare.at("to").get<std::string>(),
      fare.at("spray").get<std::string>(), fare.at("delays").get<std::string>());
  if (fare.contains("down"))
    text += fmt::format("down       {}\n", fare.at("down").get<std::string>());
  text += fmt::format("converged  {} {}\n\n",
                      to_string(FabricTime::from_ps(fare.at("converged_ps").get<int64_t>())),
                      fare.contains("down") ? "after it" : "after the beginning");
  if (fare.contains("weights")) {
    std::string weights;
    for (const Json& weight : fare.at("weights")) {
      weights += (weights.empty() ? "" : ":") + weight.dump();
    }
    text.insert(text.size() - 1, fmt::format("planes     {}, as the NIC of {} weighs them\n",
                                             weights, fare.at("from").get<std::string>()));
  }
  std::vector<std::vector<std::string>> rows{
      {"SWITCH", "BY", "TO", "WEIGHT", "SHARE", "RATE", "WHICH"}};
  for (const Json& plane : fare.at("planes")) {
    for (const Json& node : plane.at("switches")) {
      const auto name = node.at("switch").get<std::string>();
      if (node.at("hops").empty()) rows.push_back({name, "-", "no route"});
      for (const Json& hop : node.at("hops")) {
        rows.push_back(
            {name, hop.at("port").get<std::string>(), hop.at("to").get<std::string>(),
             std::to_string(hop.at("weight").get<uint32_t>()),
             fmt::format("{:.1f} %", hop.at("share").get<double>()),
             hop.contains("mbps") ? fmt::format("{:g}", hop.at("mbps").get<double>() / 1000) : "-",
             hop.value("why", "")});
      }
    }
  }
  text += table(rows);
  for (const Json& plane : fare.at("planes")) {
    if (const auto arrives = plane.at("arrives").get<double>(); arrives < 99.95) {
      text += fmt::format("\nof plane {} only {:.1f} % arrives\n",
                          plane.at("plane").get<uint32_t>(), arrives);
    }
  }
  return text +
         "\nSHARE: of what the sender puts into the plane. RATE: Gb/s that the neighbour\n"
         "announced for the receiver: its own over its ways out, or its link's rate.\n";
}

}  // namespace mrclab::lab
