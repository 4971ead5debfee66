#include "session/recording/followed_part.h"

#include <algorithm>

namespace mrclab::lab {

void FollowedPart::add(NodeId node, Look look) {
  if (looks_[node.value] != Look::kNothing) return;
  looks_[node.value] = look;
  node_numbers_[node.value] = static_cast<uint32_t>(nodes_.size());
  nodes_.push_back(node);
}

void FollowedPart::add_link(LinkId link) {
  if (!link_numbers_.try_emplace(link.value, static_cast<uint32_t>(links_.size())).second) return;
  const auto first = static_cast<uint32_t>(2 * links_.size());
  wire_numbers_[topology_->link(link).a_to_b().value] = first;
  wire_numbers_[topology_->link(link).b_to_a().value] = first + 1;
  links_.push_back(link);
}

FollowedPart::FollowedPart(const Topology& topology, std::vector<uint32_t> racks)
    : topology_(&topology), racks_(std::move(racks)) {
  looks_.resize(topology.nodes.size(), Look::kNothing);
  wire_numbers_.resize(topology.all_wires().size(), kOutside);
  std::sort(racks_.begin(), racks_.end());
  for (const uint32_t rack : racks_) {
    const uint32_t first = rack * topology.hosts_per_t0;
    const uint32_t last = std::min(first + topology.hosts_per_t0, topology.host_count());
    for (uint32_t host = first; host < last; ++host) add(topology.host(host), Look::kAll);
  }
  const size_t hosts = nodes_.size();
  for (uint32_t plane = 0; plane < topology.planes; ++plane) {
    for (const uint32_t rack : racks_) add(topology.t0(plane, rack), Look::kAll);
  }
  const size_t own = nodes_.size();
  for (size_t i = 0; i < own; ++i) {
    for (const Port& port : topology.node(nodes_[i]).ports) {
      add_link(port.link);
      if (i >= hosts) add(port.peer.node, Look::kItsWires);
    }
  }
}

}  // namespace mrclab::lab
