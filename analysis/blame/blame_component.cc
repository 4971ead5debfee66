#include "analysis/blame/blame_component.h"

#include <algorithm>

#include "fabric/topology/path.h"

namespace mrclab::analysis {

std::string_view name_of(ComponentKind kind) {
  switch (kind) {
    case ComponentKind::kWire: return "wire";
    case ComponentKind::kLink: return "link";
    case ComponentKind::kPath: return "path";
    case ComponentKind::kOptic: return "optic";
    case ComponentKind::kSwitch: return "switch";
    case ComponentKind::kHost: return "host";
    case ComponentKind::kCard: return "line_card";
    case ComponentKind::kPlane: return "plane";
    case ComponentKind::kZone: return "power_zone";
  }
  return "?";
}

bool has_parts(ComponentKind kind) {
  switch (kind) {
    case ComponentKind::kWire:
    case ComponentKind::kLink:
    case ComponentKind::kPath: return false;
    case ComponentKind::kOptic:
    case ComponentKind::kSwitch:
    case ComponentKind::kHost:
    case ComponentKind::kCard:
    case ComponentKind::kPlane:
    case ComponentKind::kZone: return true;
  }
  return false;
}

std::string name_of(const Topology& topology, const Component& component) {
  switch (component.kind) {
    case ComponentKind::kWire: return topology.wire_name(WireId{component.index});
    case ComponentKind::kLink: return topology.link_name(LinkId{component.index});
    case ComponentKind::kOptic: return topology.optic(OpticId{component.index}).name;
    case ComponentKind::kSwitch:
    case ComponentKind::kHost: return topology.node(NodeId{component.index}).name;
    case ComponentKind::kCard:
      return topology.line_card_name(topology.wire(WireId{component.index}).from);
    case ComponentKind::kPlane: return "p" + std::to_string(component.index);
    case ComponentKind::kZone: return topology.power_zones[component.index].name;
    case ComponentKind::kPath: break;
  }
  const auto path = path_of(component.ev);
  return topology.node(NodeId{component.index}).name + " " + (path ? to_string(*path) : "?");
}

ZonesOfNodes zones_of_nodes(const Topology& topology) {
  ZonesOfNodes zones(topology.nodes.size());
  for (uint32_t zone = 0; zone < topology.power_zones.size(); ++zone) {
    const std::vector<NodeId>& nodes = topology.power_zones[zone].nodes;
    if (nodes.size() < 2) continue;
    for (const NodeId node : nodes) zones[node.value].push_back(zone);
  }
  return zones;
}

void concerned_by(const Topology& topology, const ZonesOfNodes& zones, const BlameSample& sample,
                  Question question, Concerned& out) {
  out.clear();
  const auto add = [&](ComponentKind kind, uint32_t index, uint8_t bit) {
    const Component component{kind, index, {}};
    for (auto& [there, wires] : out) {
      if (there == component) {
        wires |= bit;
        return;
      }
    }
    out.emplace_back(component, bit);
  };
  for (uint8_t i = 0; i < sample.wire_count; ++i) {
    const auto bit = static_cast<uint8_t>(1u << i);
    const Wire& wire = topology.wire(sample.wires[i]);
    const auto is_host = [&](PortRef end) {
      return topology.node(end.node).role == NodeRole::kHost;
    };
    if (question == Question::kWhoMarks) {
      const bool marks = !is_host(wire.from) && !is_host(wire.to);
      if (marks) add(ComponentKind::kSwitch, wire.from.node.value, bit);
      continue;
    }
    add(ComponentKind::kWire, wire.id.value, bit);
    add(ComponentKind::kLink, wire.link.value, bit);
    if (question == Question::kWhoCopies) continue;
    for (const PortRef end : {wire.from, wire.to}) {
      add(is_host(end) ? ComponentKind::kHost : ComponentKind::kSwitch, end.node.value, bit);
      const Port& port = topology.port(end);
      if (port.optic.valid()) add(ComponentKind::kOptic, port.optic.value, bit);
      if (!is_host(end) && topology.line_card_ports > 1) {
        const PortId first{end.port.value / topology.line_card_ports * topology.line_card_ports};
        add(ComponentKind::kCard, topology.port({end.node, first}).out.value, bit);
      }
      // Switches of a listed fabric belong to no plane: there it is the ports of hosts.
      if (topology.has_planes() ? end == wire.from : is_host(end)) {
        add(ComponentKind::kPlane, port.plane, bit);
      }
      for (const uint32_t zone : zones[end.node.value]) add(ComponentKind::kZone, zone, bit);
    }
  }
  // A host's report about its port is no packet of an EV.
  if (question == Question::kWhoLoses && sample.source != sample.destination) {
    out.push_back({{ComponentKind::kPath, topology.host(sample.source).value, sample.ev}, 1});
  }
}

bool explains(const BlameSample& sample, const Component& component, uint8_t wires) {
  if ((sample.suspects & wires) == 0) return false;
  const ComponentKind kind = component.kind;
  switch (sample.clue) {
    case Clue::kNone: return true;
    // A switch that discards for want of light has power.
    case Clue::kDark:
      return kind != ComponentKind::kSwitch || sample.about != NodeId{component.index};
    case Clue::kBitFlip:
      return kind == ComponentKind::kWire || kind == ComponentKind::kLink ||
             kind == ComponentKind::kOptic;
    // Behind a good frame check no wire flips bits.
    case Clue::kInside: return kind == ComponentKind::kSwitch || kind == ComponentKind::kHost;
    // A wrong route, or a switch without its table.
    case Clue::kAstray:
      return kind == ComponentKind::kWire ||
             (kind == ComponentKind::kSwitch && sample.about == NodeId{component.index});
    case Clue::kReceiver: return kind == ComponentKind::kHost;
  }
  return true;
}

}  // namespace mrclab::analysis
