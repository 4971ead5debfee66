#pragma once
// Which nodes are ours: hosts, and switches that our daemon forwards for. The others' frames are forwarded by the
// kernel, by Open vSwitch or by a BPF program: they carry no fabric time, check no frame and execute no effect.

#include "fabric/topology/topology.h"

namespace mrclab {

constexpr bool is_ours(const NodeSite& site) {
  return site.role == NodeRole::kHost || site.forwarding == Forwarding::kSwitchd;
}

/// Is the node that puts frames on this wire one of ours, and the node that takes them off?
inline bool sender_is_ours(const Topology& topology, WireId wire) {
  return is_ours(topology.node(topology.wire(wire).from.node));
}
inline bool receiver_is_ours(const Topology& topology, WireId wire) {
  return is_ours(topology.node(topology.wire(wire).to.node));
}
/// Do both ends of a link carry fabric time?
inline bool is_ours(const Topology& topology, const Link& link) {
  return sender_is_ours(topology, link.a_to_b()) && receiver_is_ours(topology, link.a_to_b());
}

}  // namespace mrclab
