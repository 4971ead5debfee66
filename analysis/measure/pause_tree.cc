#include "analysis/measure/pause_tree.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace mrclab::analysis {
namespace {

class TreeBuilder {
 public:
  TreeBuilder(const Topology& topology, const PauseTimes& times, const LosslessTurns& turns,
              FabricTime from, FabricTime until)
      : topology_(topology), times_(times), turns_(turns) {
    tree_.from = from;
    tree_.until = until;
  }

  PauseTree build() {
    for (const PausedSpan& span : times_.spans()) {
      if (span.from >= tree_.until || span.until <= tree_.from) continue;
      add(span);
    }
    in_order();
    return std::move(tree_);
  }

 private:
  PortRef peer_of(PortRef port) const { return topology_.port(port).peer; }

  /// Which pause made the neighbour ask for this one; null if none did. Of several the one that was the
  /// longest in force.
  const PausedSpan* reason_for(const PausedSpan& span) const {
    const PortRef asker = peer_of(span.port);
    const NodeSite& site = topology_.node(asker.node);
    const PausedSpan* longest = nullptr;
    if (site.role == NodeRole::kHost) return nullptr;
    for (uint32_t i = 0; i < site.ports.size(); ++i) {
      const PortId out{i};
      const bool way = turns_.empty() ? out != asker.port : turns_.used(site.id, asker.port, out);
      if (!way) continue;
      const PausedSpan* candidate = times_.last_before({site.id, out}, span.from);
      if (candidate == nullptr || candidate->until <= tree_.from) continue;
      if (candidate->until + topology_.base_rtt < span.from) continue;
      if (longest == nullptr || candidate->from < longest->from) longest = candidate;
    }
    return longest;
  }

  /// The place of a span in the tree. Its reason is older and of the same interval, so it has its place. In a
  /// circle of ports a place is not repeated below itself.
  void add(const PausedSpan& span) {
    const PausedSpan* reason = reason_for(span);
    const uint32_t above =
        reason == nullptr ? PausedPort::kRoot : place_of_span_.at({reason->port, reason->from});
    const uint32_t place = place_below(above, span);
    place_of_span_[{span.port, span.from}] = place;
    const bool cut = place == PausedPort::kRoot || tree_.places[place].port != span.port;
    if (cut) return;  // the tree had no room for it, and what is above has times of its own
    const FabricTime begin = std::max(span.from, tree_.from);
    PausedPort& port = tree_.places[place];
    if (port.times == 0) port.first = begin;
    port.stood += std::min(span.until, tree_.until) - begin;
    ++port.times;
  }

  uint32_t place_below(uint32_t above, const PausedSpan& span) {
    for (uint32_t up = above; up != PausedPort::kRoot; up = tree_.places[up].above) {
      if (tree_.places[up].port == span.port) return up;
    }
    const auto [entry, added] =
        index_.try_emplace({above, span.port}, static_cast<uint32_t>(tree_.places.size()));
    if (!added) return entry->second;
    if (tree_.places.size() >= PauseTree::kMaxPlaces) {
      tree_.cut = true;
      index_.erase(entry);
      return above;
    }
    PausedPort port;
    port.port = span.port;
    port.asked_by = peer_of(span.port).node;
    port.above = above;
    port.depth = above == PausedPort::kRoot ? 0 : tree_.places[above].depth + 1;
    tree_.places.push_back(port);
    return entry->second;
  }

  /// Depth first: roots by how long they held back, below each the longest first.
  void in_order() {
    const std::vector<PausedPort> places = std::move(tree_.places);
    std::map<NodeId, FabricTime> of_root;
    std::vector<std::vector<uint32_t>> below(places.size());
    std::vector<uint32_t> top;
    for (uint32_t i = 0; i < places.size(); ++i) {
      const bool root = places[i].above == PausedPort::kRoot;
      (root ? top : below[places[i].above]).push_back(i);
      if (root) of_root[places[i].asked_by] += places[i].stood;
    }
    const auto before = [&](uint32_t a, uint32_t b) {
      const auto rank = [&](uint32_t i) {
        const PausedPort& p = places[i];
        const FabricTime root =
            p.above == PausedPort::kRoot ? of_root[p.asked_by] : FabricTime::zero();
        return std::tuple(FabricTime::zero() - root, p.asked_by, FabricTime::zero() - p.stood,
                          p.port);
      };
      return rank(a) < rank(b);
    };
    std::sort(top.begin(), top.end(), before);
    for (std::vector<uint32_t>& ports : below) std::sort(ports.begin(), ports.end(), before);
    std::vector<std::pair<uint32_t, uint32_t>> stack;  // old index, new index of what is above
    for (auto at = top.rbegin(); at != top.rend(); ++at) stack.push_back({*at, PausedPort::kRoot});
    while (!stack.empty()) {
      const auto [old, above] = stack.back();
      stack.pop_back();
      const auto place = static_cast<uint32_t>(tree_.places.size());
      tree_.places.push_back(places[old]);
      tree_.places.back().above = above;
      for (auto at = below[old].rbegin(); at != below[old].rend(); ++at) {
        stack.push_back({*at, place});
      }
    }
  }

  const Topology& topology_;
  const PauseTimes& times_;
  const LosslessTurns& turns_;
  PauseTree tree_;
  std::map<std::pair<uint32_t, PortRef>, uint32_t> index_;
  std::map<std::pair<PortRef, FabricTime>, uint32_t> place_of_span_;
};

}  // namespace

PauseTree pause_tree(const Topology& topology, const PauseTimes& times, const LosslessTurns& turns,
                     FabricTime from, FabricTime until) {
  return TreeBuilder(topology, times, turns, from, until).build();
}

std::string pauser_name(const Topology& topology, NodeId node) {
  const NodeSite& site = topology.node(node);
  return site.role == NodeRole::kHost ? site.name + "'s NIC" : site.name;
}

}  // namespace mrclab::analysis
