#include "faults/fault_choice.h"

#include <algorithm>

#include "fabric/paths/path_list.h"
#include "fabric/text/yaml.h"

namespace mrclab::faults {
namespace {

constexpr size_t kBurstSenders = 7;  // as in the example on octet

/// What all of a choice is; kMixed for nothing, or for parts of several sorts.
enum class PartSort : uint8_t { kMixed, kLinks, kHosts, kSwitches, kOptics, kPlanes };

PartSort sort_of(const Choice& chosen, const Topology& topology) {
  const bool links = !chosen.links.empty(), nodes = !chosen.nodes.empty(),
             optics = !chosen.optics.empty(), planes = !chosen.planes.empty();
  if (links + nodes + optics + planes != 1) return PartSort::kMixed;
  if (links) return PartSort::kLinks;
  if (optics) return PartSort::kOptics;
  if (planes) return PartSort::kPlanes;
  const auto hosts = std::count_if(chosen.nodes.begin(), chosen.nodes.end(), [&](NodeId id) {
    return topology.node(id).role == NodeRole::kHost;
  });
  if (hosts == 0) return PartSort::kSwitches;
  return static_cast<size_t>(hosts) == chosen.nodes.size() ? PartSort::kHosts : PartSort::kMixed;
}

/// One name, or a list of them.
std::string listed(const std::vector<std::string>& names) {
  if (names.size() == 1) return names.front();
  std::string text = "[";
  for (const std::string& name : names) text += (text.size() > 1 ? ", \"" : "\"") + name + "\"";
  return text + "]";
}

/// What is chosen by name; links by their lower ends.
std::string names_of(const Choice& chosen, const Topology& topology) {
  std::vector<std::string> names;
  for (const LinkId id : chosen.links) names.push_back(topology.port_name(topology.link(id).a));
  for (const NodeId id : chosen.nodes) names.push_back(topology.node(id).name);
  for (const OpticId id : chosen.optics) names.push_back(topology.optic(id).name);
  for (const uint32_t plane : chosen.planes) names.push_back("p" + std::to_string(plane));
  return listed(names);
}

std::optional<std::string> in_example(const FaultInfo& kind, std::string_view key) {
  const auto value = read_yaml_text(kind.example, "example").get(key);
  return value ? std::optional(value->as_string()) : std::nullopt;
}

/// All paths of a plane for a denial. For one path that of the example where the fabric has it, else the first of the
/// chosen host.
std::string usual_path(const FaultInfo& kind, const Choice& chosen, const Topology& topology) {
  if (kind.targets == TargetForm::kDenials) return "p0/*";
  std::string usual = in_example(kind, "path").value_or("");
  const std::optional<Path> path = parse_path(usual);
  const uint32_t host = chosen.nodes.front().value, other = host == 0 ? 1 : 0;
  if ((path && has_path(topology, *path)) || other >= topology.host_count()) return usual;
  return to_string(paths_between(topology, host, other).front());
}

/// The routes out of these links' lower ends. A stale table exchanges those of one switch, and needs two of each.
std::optional<BodyWords> routes_for(const FaultInfo& kind, const Choice& chosen,
                                    const Topology& topology) {
  for (const LinkId id : chosen.links) {
    const NodeId from = topology.link(id).a.node;
    if (topology.node(from).role == NodeRole::kHost) return std::nullopt;
    const auto of_it = std::count_if(chosen.links.begin(), chosen.links.end(), [&](LinkId other) {
      return topology.link(other).a.node == from;
    });
    if (kind.kind == FaultKind::kStaleTable && of_it < 2) return std::nullopt;
  }
  return BodyWords{{"route", names_of(chosen, topology)}};
}

/// A route, and the first other port that leads up from the same switch.
std::optional<BodyWords> wrong_route_for(const Choice& chosen, const Topology& topology) {
  const Link& link = topology.link(chosen.links.front());
  const bool of_switch = topology.node(link.a.node).role != NodeRole::kHost;
  if (chosen.links.size() != 1 || !of_switch) return std::nullopt;
  const auto other = std::find_if(topology.links.begin(), topology.links.end(), [&](const Link& l) {
    return l.a.node == link.a.node && l.id != link.id;
  });
  if (other == topology.links.end()) return std::nullopt;
  return BodyWords{{"route", topology.port_name(link.a)}, {"to", topology.port_name(other->a)}};
}

/// The cards that the switches' ends of these links are on, the upper ones of links between switches; of switches the
/// first of each.
BodyWords cards_for(const Choice& chosen, const Topology& topology) {
  std::vector<std::string> cards;
  const auto add = [&](PortRef port) {
    const std::string name = topology.line_card_name(port);
    if (std::find(cards.begin(), cards.end(), name) == cards.end()) cards.push_back(name);
  };
  for (const LinkId id : chosen.links) add(topology.link(id).b);
  for (const NodeId id : chosen.nodes) add({id, PortId{0}});
  return {{"card", listed(cards)}};
}

/// The zones that these nodes are in.
std::optional<BodyWords> zones_for(const Choice& chosen, const Topology& topology) {
  std::vector<std::string> zones;
  for (const PowerZone& zone : topology.power_zones) {
    const bool has = std::any_of(zone.nodes.begin(), zone.nodes.end(), [&](NodeId node) {
      return std::find(chosen.nodes.begin(), chosen.nodes.end(), node) != chosen.nodes.end();
    });
    if (has) zones.push_back(zone.name);
  }
  if (zones.empty()) return std::nullopt;
  return BodyWords{{"zone", listed(zones)}};
}

std::optional<BodyWords> burst_for(const Choice& chosen, const Topology& topology) {
  std::vector<std::string> senders;
  for (uint32_t i = 0; i < topology.host_count() && senders.size() < kBurstSenders; ++i) {
    if (topology.host(i) != chosen.nodes.front()) {
      senders.push_back(topology.node(topology.host(i)).name);
    }
  }
  if (chosen.nodes.size() != 1 || senders.empty()) return std::nullopt;
  return BodyWords{{"from", listed(senders)}, {"to", names_of(chosen, topology)}};
}

}  // namespace

std::optional<BodyWords> targets_for(const FaultInfo& kind, const Choice& chosen,
                                     const Topology& topology) {
  const PartSort sort = sort_of(chosen, topology);
  const auto named = [&](PartSort wanted, const char* key) -> std::optional<BodyWords> {
    if (sort != wanted) return std::nullopt;
    return BodyWords{{key, names_of(chosen, topology)}};
  };
  std::optional<BodyWords> words;
  switch (kind.targets) {
    case TargetForm::kLinks: return named(PartSort::kLinks, "link");
    case TargetForm::kWiresOrSwitches:
      if (sort == PartSort::kSwitches) return named(PartSort::kSwitches, "switch");
      [[fallthrough]];
    case TargetForm::kWires:
      words = named(PartSort::kLinks, "link");
      if (words && in_example(kind, "direction")) words->emplace_back("direction", "both");
      return words;
    case TargetForm::kOptics: return named(PartSort::kOptics, "optic");
    case TargetForm::kPorts: return named(PartSort::kLinks, "port");
    case TargetForm::kHosts: return named(PartSort::kHosts, "host");
    case TargetForm::kSwitches: return named(PartSort::kSwitches, "switch");
    case TargetForm::kPlanes: return named(PartSort::kPlanes, "plane");
    case TargetForm::kHostPaths:
    case TargetForm::kDenials:
      words = named(PartSort::kHosts, "host");
      if (words) words->emplace_back("path", usual_path(kind, chosen, topology));
      return words;
    case TargetForm::kRoutes:
      return sort == PartSort::kLinks ? routes_for(kind, chosen, topology) : std::nullopt;
    case TargetForm::kRoutesTo:
      return sort == PartSort::kLinks ? wrong_route_for(chosen, topology) : std::nullopt;
    case TargetForm::kLineCards:
      if (sort != PartSort::kLinks && sort != PartSort::kSwitches) return std::nullopt;
      return cards_for(chosen, topology);
    case TargetForm::kPowerZones:
      if (sort != PartSort::kHosts && sort != PartSort::kSwitches) return std::nullopt;
      return zones_for(chosen, topology);
    case TargetForm::kOutOfUse:
      return sort == PartSort::kSwitches ? named(PartSort::kSwitches, "switch")
                                         : named(PartSort::kLinks, "link");
    case TargetForm::kBurst:
      return sort == PartSort::kHosts ? burst_for(chosen, topology) : std::nullopt;
  }
  return std::nullopt;
}

BodyWords usual_parameters(const FaultInfo& kind) {
  BodyWords words;
  for (const ParameterUse& use : kind.parameters) {
    const std::string_view name = info(use.parameter).name;
    if (const auto value = in_example(kind, name)) words.emplace_back(name, *value);
  }
  return words;
}

}  // namespace mrclab::faults
