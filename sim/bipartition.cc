#include "sim/bipartition.h"

#include <algorithm>

namespace mrclab::lab {
namespace {

constexpr uint8_t kUnknown = 2;  // the side of a node that was not visited yet

/// never() is no number to add to.
FabricTime plus(FabricTime a, FabricTime b) {
  const bool never = a == FabricTime::never() || b == FabricTime::never();
  return never ? FabricTime::never() : a + b;
}

/// From one side to itself, by one wire or by two.
FabricTime way_back(const Bipartition& sides, uint8_t side) {
  const auto& l = sides.lookahead;
  return std::min(l[side][side], plus(l[side][1 - side], l[1 - side][side]));
}

/// Colours the nodes that can be reached from `first`; false if a wire has two ends of one side.
bool colour_from(const Topology& topology, NodeId first, std::vector<uint8_t>& of) {
  std::vector<NodeId> to_visit{first};
  of[first.value] = 0;
  while (!to_visit.empty()) {
    const NodeId node = to_visit.back();
    to_visit.pop_back();
    const auto across = static_cast<uint8_t>(1 - of[node.value]);
    for (const Port& port : topology.node(node).ports) {
      uint8_t& peer = of[port.peer.node.value];
      if (peer == kUnknown) to_visit.push_back(port.peer.node);
      if (peer == of[node.value]) return false;
      peer = across;
    }
  }
  return true;
}

std::vector<uint8_t> colour(const Topology& topology) {
  std::vector<uint8_t> of(topology.nodes.size(), kUnknown);
  for (const NodeSite& site : topology.nodes) {
    if (of[site.id.value] == kUnknown && !colour_from(topology, site.id, of)) {
      return std::vector<uint8_t>(topology.nodes.size(), 0);
    }
  }
  return of;
}

}  // namespace

FabricTime Bipartition::horizon(uint8_t side, FabricTime own, FabricTime other) const {
  return std::min(plus(own, way_back(*this, side)), plus(other, lookahead[1 - side][side]));
}

FabricTime Bipartition::longest_window() const {
  return std::min(way_back(*this, 0), way_back(*this, 1));
}

double Bipartition::windows_in(FabricTime time) const {
  const bool two = std::find(of.begin(), of.end(), 1) != of.end();
  return (two ? 2.0 : 1.0) * static_cast<double>(time.ps()) /
         static_cast<double>(longest_window().ps());
}

Bipartition bipartition(const Topology& topology) {
  Bipartition sides{colour(topology), {}};
  for (auto& from : sides.lookahead) from.fill(FabricTime::never());
  for (const Wire& wire : topology.all_wires()) {
    FabricTime& least =
        sides.lookahead[sides.of[wire.from.node.value]][sides.of[wire.to.node.value]];
    least = std::min(least, topology.lookahead(wire.id));
  }
  return sides;
}

}  // namespace mrclab::lab
