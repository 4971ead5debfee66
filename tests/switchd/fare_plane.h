#pragma once
// A plane of switches that route by themselves, their next hops as text, and links that go dark.

#include <string>

#include "switchd/fare_table.h"
#include "wired_plane.h"

namespace mrclab::switchd::testing {

inline FabricShape fare_shape(FareChoice fare = {}) {
  FabricShape shape;
  shape.name = "routing";
  shape.t0 = 3;
  shape.t1 = 4;
  shape.hosts_per_t0 = 2;
  shape.routing.by_default = Routing::kFare;
  shape.routing.fare = fare;
  shape.routing.fare.nics = NicRoutes::kOff;  // hosts here are wires' ends
  return shape;
}

/// "u0*1 u1*1": the next hops of a switch to a host.
inline std::string hops(const WiredPlane& plane, const SwitchNode& node, NodeId self,
                        uint32_t host) {
  std::string text;
  for (const routing::WeightedHop& hop : node.table().fare()->hops_to(host)) {
    text += (text.empty() ? "" : " ") + plane.topology.port({self, hop.port}).name() + "*" +
            std::to_string(hop.weight);
  }
  return text;
}
inline std::string hops(WiredPlane& plane, const std::string& name, uint32_t host) {
  return hops(plane, plane.node(name), plane.topology.find_node(name).value(), host);
}

inline PortRef port_of(const Topology& t, const std::string& name) {
  return t.find_port(name).value();
}

/// Both ends of a link lose their carrier or get it.
inline void set_link(WiredPlane& plane, const std::string& port, bool up, FabricTime at) {
  const PortRef a = port_of(plane.topology, port);
  const PortRef b = plane.topology.port(a).peer;
  for (const PortRef end : {a, b}) {
    if (plane.topology.node(end.node).role != NodeRole::kHost) {
      plane.apply(at, end.node, PortCarrier{end, up});
    }
  }
}

inline size_t count_events(WiredPlane& plane, const std::string& node, const std::string& kind) {
  const auto& events = plane.notes(node).events;
  return static_cast<size_t>(std::count_if(events.begin(), events.end(),
                                           [&](const auto& event) { return event.kind == kind; }));
}

}  // namespace mrclab::switchd::testing
