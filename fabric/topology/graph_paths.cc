#include "fabric/topology/graph_paths.h"

#include <algorithm>
#include <stdexcept>
#include <tuple>

namespace mrclab {
namespace {

constexpr uint32_t kFar = 0xFFFF'FFFF;

/// How many links each node is from the destination host; hosts forward nothing.
std::vector<uint32_t> distances_to(const Topology& topology, NodeId destination) {
  std::vector<uint32_t> distance(topology.nodes.size(), kFar);
  distance[destination.value] = 0;
  std::vector<NodeId> row{destination};
  while (!row.empty()) {
    std::vector<NodeId> next;
    for (const NodeId node : row) {
      for (const Port& port : topology.node(node).ports) {
        const NodeId peer = port.peer.node;
        if (distance[peer.value] != kFar) continue;
        distance[peer.value] = distance[node.value] + 1;
        if (topology.node(peer).role != NodeRole::kHost) next.push_back(peer);
      }
    }
    row = std::move(next);
  }
  return distance;
}

/// All ways down the distances from one NIC port, by port numbers.
class Walk {
 public:
  Walk(const Topology& topology, NodeId destination)
      : topology_(topology), distance_(distances_to(topology, destination)) {}

  std::vector<std::vector<PortRef>> from(PortRef nic) {
    found_.clear();
    exits_ = {nic};
    const NodeId first = topology_.port(nic).peer.node;
    if (distance_[first.value] != kFar) step(first);
    return std::move(found_);
  }

 private:
  void step(NodeId node) {  // as deep as a carrier has uSIDs
    if (distance_[node.value] == 0) {
      if (found_.size() == GraphPaths::kMaxPathsOfPort) {
        throw std::invalid_argument("more than " + std::to_string(GraphPaths::kMaxPathsOfPort) +
                                    " shortest paths from one NIC port to one host");
      }
      found_.push_back(exits_);
      return;
    }
    if (exits_.size() > kUsidsInCarrier) {
      throw std::invalid_argument("a path over more switches than a carrier has uSIDs");
    }
    const auto ports = static_cast<uint32_t>(topology_.node(node).ports.size());
    for (uint32_t i = 0; i < ports; ++i) {
      const PortRef out{node, PortId{i}};
      const NodeId peer = topology_.port(out).peer.node;
      if (distance_[peer.value] + 1 != distance_[node.value]) continue;
      exits_.push_back(out);
      step(peer);
      exits_.pop_back();
    }
  }

  const Topology& topology_;
  std::vector<uint32_t> distance_;
  std::vector<PortRef> exits_;
  std::vector<std::vector<PortRef>> found_;
};

/// Names of the ways of one port: the first over one switch is T0-local, the others are numbered.
void name_paths(uint32_t port, std::vector<std::vector<PortRef>> ways,
                std::vector<GraphPaths::Routed>& out) {
  uint32_t place = 0;
  std::optional<GraphPaths::Routed> local;
  for (std::vector<PortRef>& exits : ways) {
    const bool one_switch = exits.size() == 2;
    GraphPaths::Routed routed{{port, kT0LocalUplink}, std::move(exits), {}};
    if (one_switch && !local) {
      local = std::move(routed);
      continue;
    }
    routed.path.uplink = place++;
    out.push_back(std::move(routed));
  }
  if (local) out.push_back(std::move(*local));
}

std::string name_of(const Topology& topology, uint32_t host) {
  return topology.node(topology.host(host)).name;
}

}  // namespace

GraphPaths::GraphPaths(const Topology& topology)
    : hosts_(topology.host_count()), of_pair_(size_t{hosts_} * hosts_) {
  size_t total = 0;
  for (uint32_t destination = 0; destination < hosts_; ++destination) {
    Walk walk(topology, topology.host(destination));
    for (uint32_t source = 0; source < hosts_; ++source) {
      if (source == destination) continue;
      auto& list = of_pair_[source * hosts_ + destination];
      for (uint32_t p = 0; p < topology.planes; ++p) {
        name_paths(p, walk.from({topology.host(source), PortId{p}}), list);
      }
      if (list.empty()) {
        throw std::invalid_argument("no path from " + name_of(topology, source) + " to " +
                                    name_of(topology, destination));
      }
      total += list.size();
      if (total > kMaxPaths) {
        throw std::invalid_argument("more than " + std::to_string(kMaxPaths) + " paths");
      }
      for (const Routed& routed : list) {
        longest_ = std::max(longest_, static_cast<uint32_t>(routed.exits.size() - 1));
        if (routed.path.uplink != kT0LocalUplink) {
          most_places_ = std::max(most_places_, routed.path.uplink + 1);
        }
      }
    }
  }
  find_backs(topology);
}

/// A way is the shortest of its NIC port, so the way back need not be one of the other port's.
void GraphPaths::find_backs(const Topology& topology) {
  for (uint32_t source = 0; source < hosts_; ++source) {
    for (uint32_t destination = 0; destination < hosts_; ++destination) {
      for (Routed& routed : of_pair_[source * hosts_ + destination]) {
        std::vector<PortRef> reversed;
        for (auto exit = routed.exits.rbegin(); exit != routed.exits.rend(); ++exit) {
          reversed.push_back(topology.port(*exit).peer);
        }
        const auto others = between(destination, source);
        const auto back = std::find_if(others.begin(), others.end(), [&](const Routed& other) {
          return other.exits == reversed;
        });
        if (back == others.end()) {
          throw std::invalid_argument("a path from " + name_of(topology, source) + " to " +
                                      name_of(topology, destination) + " with no way back");
        }
        routed.back = back->path;
      }
    }
  }
}

const GraphPaths::Routed* GraphPaths::find(uint32_t source, uint32_t destination, Path path) const {
  if (source >= hosts_ || destination >= hosts_) return nullptr;
  const auto list = between(source, destination);
  const auto found =
      std::lower_bound(list.begin(), list.end(), path, [](const Routed& routed, Path wanted) {
        return std::tie(routed.path.plane, routed.path.uplink) <
               std::tie(wanted.plane, wanted.uplink);
      });
  return found == list.end() || found->path != path ? nullptr : &*found;
}

}  // namespace mrclab
