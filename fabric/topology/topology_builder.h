#pragma once
// The steps that a graph is built in, whatever its form.

#include <string>
#include <string_view>

#include "fabric/topology/fabric_shape.h"
#include "fabric/topology/topology.h"

namespace mrclab {

/// Base RTT and the queue thresholds that follow from it; the longest path crosses `switches` switches.
void derive_timing(const FabricShape& shape, uint32_t switches, Topology& topology);

/// How its switches treat RoCE's data, and the thresholds of their queues, once the base RTT is known.
void derive_queues(const FabricShape& shape, Topology& topology);

/// The part of a topology that does not depend on its graph: name, rates, latencies, profiles.
Topology common_outline(const FabricShape& shape);

/// Exchanges the cables in the ports of each pair of `miscabled`, in a fabric that is complete otherwise. Throws
/// NameError for a pair that no two cables can make.
void swap_cables(const FabricShape& shape, Topology& topology);

class TopologyBuilder {
 public:
  TopologyBuilder(const FabricShape& shape, Topology outline);

  /// `plane_name` is what `forwarding:` may call the plane of a switch.
  NodeId add_node(NodeRole role, uint32_t plane, uint32_t index, std::string name,
                  const std::string& plane_name, Usid usid, uint32_t pod = 0);
  PortRef add_port(NodeId node, uint32_t plane, char kind, uint32_t number);
  void connect(PortRef lower, PortRef upper, BitRate rate);
  /// Every node is there, and every port of the first of `planes` planes that are alike, or of all if that is 1: puts
  /// transceivers into the T0s' downlinks, then into their uplinks.
  void finish_cables(uint32_t planes);
  /// The zones of the shape, or for each T0 of a plane its rack: it, those that have its number in other planes, their
  /// hosts; and a rack of spines for each T1. Every node is there. Throws NameError for a pattern that names no node.
  void add_power_zones();
  /// Applies `link_rates` of the shape; the cables are finished. Throws NameError for a pattern that names no link.
  void set_link_rates();

  Topology& topology() { return topology_; }

 private:
  void place_plugs();
  void plug_links();
  void share_optics(NodeRole role, bool up, uint32_t links_each, std::string_view letters);

  const FabricShape& shape_;
  Topology topology_;
  Cabling cables_;
  struct AddedPort {
    NodeId node;
    Cabling::Plug plug;
  };
  std::vector<AddedPort> added_;
  std::vector<uint32_t> port_counts_;  // by node
};

}  // namespace mrclab
