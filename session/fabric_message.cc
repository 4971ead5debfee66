#include "session/fabric_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "fabric/node/effect_text.h"
#include "fabric/node/impairment.h"
#include "faults/schedule.h"
#include "scenario/spec/queue_pairs.h"

namespace mrclab::lab {
namespace {

using nlohmann::json;

json ports_json(const NodeSite& site, const FollowedPart& part) {
  if (part.look(site.id) == FollowedPart::Look::kAll) {
    json ports = json::array();
    for (const Port& port : site.ports) ports.push_back(port.name());
    return ports;
  }
  json ports = json::object();
  for (size_t i = 0; i < site.ports.size(); ++i) {
    if (part.number(site.ports[i].link) == FollowedPart::kOutside) continue;
    ports[std::to_string(i)] = site.ports[i].name();
  }
  return ports;
}

}  // namespace

json nodes_json(const Topology& topology, const FollowedPart& part) {
  constexpr std::array<std::string_view, 4> kRoles{"host", "t0", "t1", "t2"};
  json nodes = json::array();
  for (size_t i = 0; i < part.nodes(); ++i) {
    const NodeSite& site = topology.node(part.node(i));
    nodes.push_back({{"name", site.name},
                     {"role", kRoles.at(static_cast<size_t>(site.role))},
                     {"plane", site.plane},
                     {"index", site.index},
                     {"ports", ports_json(site, part)}});
  }
  return nodes;
}

json links_json(const Topology& topology, const FollowedPart& part) {
  json links = json::array();
  const auto kind = [&](const Link& l) { return topology.node(l.a.node).role == NodeRole::kHost; };
  std::array<uint64_t, 2> fastest{};  // between switches, to hosts
  for (const Link& l : topology.links) fastest[kind(l)] = std::max(fastest[kind(l)], l.rate.bps);
  for (size_t i = 0; i < part.links(); ++i) {
    const Link& link = topology.link(part.link(i));
    const Port& port = topology.port(link.a);
    links.push_back({{"a", {part.number(link.a.node), link.a.port.value}},
                     {"b", {part.number(link.b.node), link.b.port.value}},
                     {"wires", {part.number(link.a_to_b()), part.number(link.b_to_a())}},
                     {"rate", link.rate.bps},
                     {"slow", link.rate.bps < fastest[kind(link)]},
                     {"propagation_ps", link.propagation.ps()},
                     {"plane", port.plane},
                     {"name", topology.link_name(link.id)}});
  }
  return links;
}

json optics_json(const Topology& topology, const FollowedPart& part) {
  json optics = json::array();
  for (const Optic& optic : topology.optics) {
    json links = json::array();
    for (const LinkId link : optic.links) {
      if (const uint32_t number = part.number(link); number != FollowedPart::kOutside) {
        links.push_back(number);
      }
    }
    // All of one that is in the part, by its number in the fabric where that is another one.
    if (links.size() < optic.links.size()) continue;
    optics.push_back({{"name", optic.name}, {"links", links}});
    if (!part.whole()) optics.back()["number"] = optic.id.value;
  }
  return optics;
}

json queue_pairs_json(const Scenario& scenario, const FollowedPart& part) {
  if (part.whole()) return describe_queue_pairs(scenario);
  json list = json::array();
  const auto name = [&](uint32_t host, Qpn qpn) {
    return fmt::format("{}:0x{:06x}", scenario.topology.node(scenario.topology.host(host)).name,
                       qpn.value);
  };
  for (const QueuePairEnd& end : queue_pairs(scenario)) {
    const NodeId host = scenario.topology.host(end.host);
    if (part.number(host) == FollowedPart::kOutside) continue;
    list.push_back({{"qp", name(end.host, end.qpn)},
                    {"host", scenario.topology.node(host).name},
                    {"qpn", end.qpn.value},
                    {"peer", name(end.peer_host, end.peer_qpn)},
                    {"workload", endpoint::name_of(scenario.workload[end.workload])}});
  }
  return list;
}

bool stops_all(const Effect& effect) {
  return std::holds_alternative<WireState>(effect) || std::holds_alternative<PortCarrier>(effect) ||
         std::holds_alternative<SwitchState>(effect);
}

json impairments_json(const faults::Fault& fault, const Topology& topology,
                      const FollowedPart& part, size_t& room) {
  json list = json::array();
  for (const faults::Hold& hold : faults::holds_of(fault, topology)) {
    if (hold.from >= fault.healed || room == 0) continue;
    json wires = json::array();
    for (const WireId wire : wires_impaired_by(topology, hold.effect)) {
      if (const uint32_t number = part.number(wire); number != FollowedPart::kOutside) {
        wires.push_back(number);
      }
    }
    const FabricTime until = std::min(hold.until, fault.healed);
    const std::string target = target_name(topology, hold.effect);
    const auto node = topology.find_node(target.substr(0, target.find_first_of(": ")));
    const bool of_node = node && target.find_first_of(":>") == std::string::npos;
    const uint32_t number = node ? part.number(*node) : FollowedPart::kOutside;
    // What is not in the part is said of the whole (whole_messages.h).
    if (!part.whole() && wires.empty() && (!node || number == FollowedPart::kOutside)) continue;
    --room;
    json entry{{"effect", name_of(hold.effect)},
               {"target", target},
               {"dark", stops_all(hold.effect)},
               {"wires", std::move(wires)},
               {"from_ps", hold.from.ps()},
               {"until_ps", until == FabricTime::never() ? json() : json(until.ps())}};
    if (of_node && number != FollowedPart::kOutside) entry["node"] = number;
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace mrclab::lab
