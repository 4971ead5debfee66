#include "fabric/node/impairment.h"

#include <algorithm>

#include "fabric/node/effect_fields.h"
#include "fabric/topology/routes.h"

namespace mrclab {
namespace {

std::vector<WireId> wires_into(const Topology& topology, NodeId node) {
  std::vector<WireId> wires;
  for (const Port& port : topology.node(node).ports) wires.push_back(port.in);
  std::sort(wires.begin(), wires.end());
  return wires;
}

}  // namespace

std::vector<WireId> wires_impaired_by(const Topology& topology, const Effect& effect) {
  if (is_as_built(effect)) return {};
  return std::visit(
      [&](const auto& e) -> std::vector<WireId> {
        using E = std::decay_t<decltype(e)>;
        if constexpr (requires { e.wire; }) {
          return {e.wire};
        } else if constexpr (std::is_same_v<E, PortCarrier>) {
          return {topology.port(e.port).out};
        } else if constexpr (std::is_same_v<E, SwitchState> || std::is_same_v<E, SwitchErrors>) {
          return wires_into(topology, e.node);
        } else if constexpr (std::is_same_v<E, SwitchRoute>) {
          const std::optional<PortId> port = port_toward(topology, e.node, e.usid);
          if (!port) return {};
          return {topology.port({e.node, *port}).out};
        } else {
          return {};
        }
      },
      effect);
}

}  // namespace mrclab
