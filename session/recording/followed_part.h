#pragma once
// The part of a fabric whose packets are recorded one by one: all of it, or of a fabric that is too large for that the
// racks that are followed. A rack is the hosts that hang on the T0s with one number, one in each plane. The part has
// those hosts, those T0s and the switches next to them, and the links between them.
//
// Nodes, links and wires of the part are numbered from 0, hosts first. A page has no others, and these numbers.

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "fabric/topology/topology.h"

namespace mrclab::lab {

/// Pages show fabrics of up to so many nodes packet by packet (our choice: each is a few pixels), and of larger ones
/// the racks that are followed.
inline constexpr size_t kMaxNodesShown = 1024;

class FollowedPart {
 public:
  static constexpr uint32_t kOutside = UINT32_MAX;
  /// What is recorded of a node: nothing; what goes over wires of the part; all that it does.
  enum class Look : uint8_t { kNothing, kItsWires, kAll };

  /// All of it. `topology` outlives it.
  explicit FollowedPart(const Topology& topology) : topology_(&topology) {}
  /// Of racks with these numbers, each once. Of a topology that has_planes().
  FollowedPart(const Topology& topology, std::vector<uint32_t> racks);

  bool whole() const { return looks_.empty(); }
  const std::vector<uint32_t>& racks() const { return racks_; }
  size_t nodes() const { return whole() ? topology_->nodes.size() : nodes_.size(); }
  size_t links() const { return whole() ? topology_->links.size() : links_.size(); }
  size_t wires() const { return whole() ? topology_->all_wires().size() : 2 * links_.size(); }
  NodeId node(size_t number) const {
    return whole() ? NodeId{static_cast<uint32_t>(number)} : nodes_[number];
  }
  LinkId link(size_t number) const {
    return whole() ? LinkId{static_cast<uint32_t>(number)} : links_[number];
  }
  WireId wire(size_t number) const {
    if (whole()) return WireId{static_cast<uint32_t>(number)};
    const Link& link = topology_->link(links_[number / 2]);
    return number % 2 == 0 ? link.a_to_b() : link.b_to_a();
  }
  // Numbers in the part; kOutside: it has no such one.
  uint32_t number(NodeId node) const {
    return whole() ? node.value : found(node_numbers_, node.value);
  }
  uint32_t number(LinkId link) const {
    return whole() ? link.value : found(link_numbers_, link.value);
  }
  uint32_t number(WireId wire) const { return whole() ? wire.value : wire_numbers_[wire.value]; }
  Look look(NodeId node) const { return whole() ? Look::kAll : looks_[node.value]; }

 private:
  using Numbers = std::unordered_map<uint32_t, uint32_t>;
  static uint32_t found(const Numbers& numbers, uint32_t id) {
    const auto at = numbers.find(id);
    return at == numbers.end() ? kOutside : at->second;
  }
  void add(NodeId node, Look look);
  void add_link(LinkId link);

  const Topology* topology_;
  std::vector<uint32_t> racks_;
  std::vector<NodeId> nodes_;
  std::vector<LinkId> links_;
  Numbers node_numbers_, link_numbers_;
  std::vector<uint32_t> wire_numbers_;  // by wire, as each packet that a T1 forwards is looked up
  std::vector<Look> looks_;             // by node; empty: the part is all of it
};

/// Is the fabric shown by switch and rack, and only what is followed packet by packet?
inline bool is_summarised(const Topology& topology) {
  return topology.has_planes() && topology.nodes.size() > kMaxNodesShown;
}

}  // namespace mrclab::lab
