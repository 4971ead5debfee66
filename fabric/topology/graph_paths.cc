#include "fabric/topology/graph_paths.h"

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>
#include <string>

namespace mrclab {
namespace {

constexpr uint8_t kFar = 0xFF;
constexpr uint32_t kNoLeaf = 0xFFFF'FFFF;
constexpr size_t kMostNicPorts = 16;  // GraphShape::kMaxPorts, UsidLayout::planes()

std::string name_of(const Topology& topology, uint32_t host) {
  return topology.node(topology.host(host)).name;
}

/// A way over one switch is the port's T0-local one if it is the first; the others are numbered.
uint32_t uplink_of(uint32_t links, uint32_t place) {
  if (links > 0) return place;
  return place == 0 ? kT0LocalUplink : place - 1;
}

std::optional<uint32_t> place_of_uplink(uint32_t links, uint32_t ways, uint32_t uplink) {
  uint32_t place = uplink;
  if (links == 0) place = uplink == kT0LocalUplink ? 0 : uplink + 1;
  return place < ways ? std::optional(place) : std::nullopt;
}

}  // namespace

struct GraphPaths::Ways {
  uint32_t links = kFar, ways = 0;
  std::array<At, kMostNicPorts> ends;  ///< the switches' ports to the host, in their order
  uint32_t count = 0;
};

GraphPaths::GraphPaths(const Topology& topology)
    : hosts_(topology.host_count()),
      ports_(topology.planes),
      switches_(static_cast<uint32_t>(topology.nodes.size()) - hosts_),
      edges_(switches_),
      leaf_of_(switches_, kNoLeaf) {
  uint32_t leaves = 0;
  for (uint32_t h = 0; h < hosts_; ++h) {
    for (const Port& port : topology.node(topology.host(h)).ports) {
      hosts_at_.push_back({port.peer.node.value - hosts_, port.peer.port.value});
      uint32_t& leaf = leaf_of_[hosts_at_.back().of_switch];
      if (leaf == kNoLeaf) leaf = leaves++;
    }
  }
  for (uint32_t s = 0; s < switches_; ++s) {
    const auto& ports = topology.node(NodeId{hosts_ + s}).ports;
    for (uint32_t i = 0; i < ports.size(); ++i) {
      const PortRef peer = ports[i].peer;
      if (peer.node.value < hosts_) continue;  // hosts forward nothing
      edges_[s].push_back({i, {peer.node.value - hosts_, peer.port.value}});
    }
  }
  links_to_.assign(size_t{leaves} * switches_, kFar);
  ways_to_.assign(size_t{leaves} * switches_, 0);
  for (uint32_t s = 0; s < switches_; ++s) {
    if (leaf_of_[s] != kNoLeaf) measure(s);
  }
  find_planes();
  check(topology);
}

/// How far each switch is from that one, and by how many ways, row by row.
void GraphPaths::measure(uint32_t leaf_switch) {
  uint8_t* const links = &links_to_[size_t{leaf_of_[leaf_switch]} * switches_];
  uint16_t* const ways = &ways_to_[size_t{leaf_of_[leaf_switch]} * switches_];
  links[leaf_switch] = 0;
  ways[leaf_switch] = 1;
  std::vector<uint32_t> row{leaf_switch};
  for (uint8_t next = 1; !row.empty(); next = std::min<uint8_t>(next + 1, kFar - 1)) {
    std::vector<uint32_t> further;
    for (const uint32_t s : row) {
      for (const Edge& edge : edges_[s]) {
        const uint32_t peer = edge.peer.of_switch;
        if (links[peer] == kFar) {
          links[peer] = next;
          further.push_back(peer);
        }
        if (links[peer] != next) continue;
        ways[peer] = static_cast<uint16_t>(
            std::min<uint32_t>(uint32_t{ways[peer]} + ways[s], kMaxPathsOfPort + 1));
      }
    }
    row = std::move(further);
  }
}

void GraphPaths::find_planes() {
  std::vector<uint32_t> port_at(switches_, kFar);
  for (uint32_t i = 0; i < hosts_at_.size(); ++i) {
    const uint32_t port = i % ports_, leaf = leaf_of_[hosts_at_[i].of_switch];
    const uint32_t known = port_at[hosts_at_[i].of_switch];
    planes_apart_ = planes_apart_ && (known == kFar || known == port);
    if (known != kFar || !planes_apart_) continue;
    for (uint32_t s = 0; s < switches_; ++s) {
      if (links_to_[size_t{leaf} * switches_ + s] != kFar) port_at[s] = port;
    }
  }
}

std::optional<uint32_t> GraphPaths::links_between(NodeId leaf_switch, NodeId from) const {
  if (leaf_of_[leaf_switch.value - hosts_] == kNoLeaf) return std::nullopt;
  return reach(leaf_switch.value - hosts_, from.value - hosts_).links;
}

GraphPaths::Reach GraphPaths::reach(uint32_t leaf_switch, uint32_t from) const {
  const size_t at = size_t{leaf_of_[leaf_switch]} * switches_ + from;
  return {links_to_[at], ways_to_[at]};
}

GraphPaths::Ways GraphPaths::ways(uint32_t from, uint32_t host) const {
  Ways found;
  for (uint32_t p = 0; p < ports_; ++p) {
    const At& end = at(host, p);
    const Reach here = reach(end.of_switch, from);
    if (here.links == kFar || here.links > found.links) continue;
    if (here.links < found.links) {
      found.count = found.ways = 0;
      found.links = here.links;
    }
    found.ends[found.count++] = end;
    found.ways += here.ways;
  }
  std::sort(found.ends.begin(), found.ends.begin() + found.count,
            [](const At& a, const At& b) { return a.port < b.port; });
  return found;
}

/// Along a shortest way the nearest NIC ports stay the nearest, and no others become so.
GraphPaths::Reach GraphPaths::reach(const Ways& ways, uint32_t from) const {
  Reach nearest{kFar, 0};
  for (uint32_t i = 0; i < ways.count; ++i) {
    const Reach here = reach(ways.ends[i].of_switch, from);
    if (here.links < nearest.links) nearest = {here.links, 0};
    if (here.links == nearest.links) nearest.ways += here.ways;
  }
  return nearest;
}

void GraphPaths::walk(const Ways& ways, uint32_t from, uint32_t place,
                      std::vector<PortRef>& exits) const {
  for (uint32_t links = ways.links; links > 0; --links) {
    for (const Edge& edge : edges_[from]) {
      const Reach next = reach(ways, edge.peer.of_switch);
      if (next.links + 1 != links) continue;
      if (place >= next.ways) {
        place -= next.ways;
        continue;
      }
      exits.push_back({NodeId{hosts_ + from}, PortId{edge.port}});
      from = edge.peer.of_switch;
      break;
    }
  }
  for (uint32_t i = 0; i < ways.count; ++i) {
    if (ways.ends[i].of_switch != from || place-- > 0) continue;
    exits.push_back({NodeId{hosts_ + from}, PortId{ways.ends[i].port}});
    return;
  }
}

/// The inverse of walk(): `exits` without the NIC's.
std::optional<uint32_t> GraphPaths::place_of(const Ways& ways,
                                             const std::vector<PortRef>& exits) const {
  if (exits.size() != ways.links + 2) return std::nullopt;
  uint32_t place = 0;
  for (uint32_t i = 1; i + 1 < exits.size(); ++i) {
    const uint32_t links = ways.links + 1 - i;
    bool found = false;
    for (const Edge& edge : edges_[exits[i].node.value - hosts_]) {
      const Reach next = reach(ways, edge.peer.of_switch);
      if (next.links + 1 != links) continue;
      found = edge.port == exits[i].port.value;
      if (found) break;
      place += next.ways;
    }
    if (!found) return std::nullopt;
  }
  const At last{exits.back().node.value - hosts_, exits.back().port.value};
  for (uint32_t i = 0; i < ways.count; ++i) {
    if (ways.ends[i] == last) return place;
    if (ways.ends[i].of_switch == last.of_switch) ++place;
  }
  return std::nullopt;
}

const GraphPaths::Edge* GraphPaths::edge_at(PortRef port) const {
  const std::vector<Edge>& edges = edges_[port.node.value - hosts_];
  const auto found =
      std::lower_bound(edges.begin(), edges.end(), port.port.value,
                       [](const Edge& edge, uint32_t wanted) { return edge.port < wanted; });
  return found == edges.end() || found->port != port.port.value ? nullptr : &*found;
}

std::vector<Path> GraphPaths::between(uint32_t source, uint32_t destination) const {
  std::vector<Path> paths;
  for (uint32_t p = 0; p < ports_ && source != destination; ++p) {
    const Ways found = ways(at(source, p).of_switch, destination);
    // The T0-local one stands behind the numbered ones, as it does in all_paths().
    for (uint32_t i = found.links == 0 ? 1 : 0; i < found.ways; ++i) {
      paths.push_back({p, uplink_of(found.links, i)});
    }
    if (found.links == 0) paths.push_back({p, kT0LocalUplink});
  }
  return paths;
}

bool GraphPaths::has(uint32_t source, uint32_t destination, Path path) const {
  if (source >= hosts_ || destination >= hosts_ || source == destination) return false;
  if (!path.named() || path.plane >= ports_) return false;
  const Ways found = ways(at(source, path.plane).of_switch, destination);
  return place_of_uplink(found.links, found.ways, path.uplink).has_value();
}

std::vector<PortRef> GraphPaths::exits(uint32_t source, uint32_t destination, Path path) const {
  if (source >= hosts_ || destination >= hosts_ || source == destination) return {};
  if (!path.named() || path.plane >= ports_) return {};
  const uint32_t first = at(source, path.plane).of_switch;
  const Ways found = ways(first, destination);
  const auto place = place_of_uplink(found.links, found.ways, path.uplink);
  if (!place) return {};
  std::vector<PortRef> exits;
  exits.reserve(found.links + 2);
  exits.push_back({NodeId{source}, PortId{path.plane}});
  walk(found, first, *place, exits);
  return exits;
}

std::optional<Path> GraphPaths::along(uint32_t destination,
                                      const std::vector<PortRef>& exits) const {
  const uint32_t source = exits.front().node.value, port = exits.front().port.value;
  const Ways found = ways(at(source, port).of_switch, destination);
  const auto place = place_of(found, exits);
  if (!place) return std::nullopt;
  return Path{port, uplink_of(found.links, *place)};
}

std::optional<Path> GraphPaths::back(uint32_t source, uint32_t destination, Path path) const {
  const std::vector<PortRef> there = exits(source, destination, path);
  if (there.empty()) return std::nullopt;
  const At end{there.back().node.value - hosts_, there.back().port.value};
  uint32_t nic = 0;
  while (at(destination, nic) != end) ++nic;
  std::vector<PortRef> reversed{{NodeId{destination}, PortId{nic}}};
  for (size_t i = there.size() - 1; i-- > 1;) {
    const At& peer = edge_at(there[i])->peer;
    reversed.push_back({NodeId{hosts_ + peer.of_switch}, PortId{peer.port}});
  }
  const At& begin = at(source, path.plane);
  reversed.push_back({NodeId{hosts_ + begin.of_switch}, PortId{begin.port}});
  return along(source, reversed);
}

std::vector<PortId> GraphPaths::next_hops(NodeId of_switch, uint32_t host) const {
  std::vector<PortId> ports;
  const uint32_t self = of_switch.value - hosts_;
  const Ways found = ways(self, host);
  if (found.links == 0) {
    for (uint32_t i = 0; i < found.count; ++i) ports.push_back(PortId{found.ends[i].port});
  }
  for (const Edge& edge : edges_[self]) {
    if (found.links == 0 || found.count == 0) break;
    if (reach(found, edge.peer.of_switch).links + 1 == found.links) {
      ports.push_back(PortId{edge.port});
    }
  }
  return ports;
}

uint32_t GraphPaths::count(uint32_t source, uint32_t destination) const {
  uint32_t sum = 0;
  for (uint32_t p = 0; p < ports_ && source != destination; ++p) {
    sum += ways(at(source, p).of_switch, destination).ways;
  }
  return sum;
}

uint32_t GraphPaths::count_over(PortRef exit, uint32_t source, uint32_t destination) const {
  uint32_t sum = 0;
  for (uint32_t p = 0; p < ports_ && source != destination; ++p) {
    const uint32_t first = at(source, p).of_switch;
    const Ways found = ways(first, destination);
    if (exit.node.value < hosts_) {
      if (exit == PortRef{NodeId{source}, PortId{p}}) sum += found.ways;
      continue;
    }
    const At here{exit.node.value - hosts_, exit.port.value};
    const Reach up = reach(first, here.of_switch);
    if (const Edge* const edge = edge_at(exit)) {
      const Reach down = reach(found, edge->peer.of_switch);
      const bool on_the_way =
          up.links != kFar && down.links != kFar && up.links + 1 + down.links == found.links;
      if (on_the_way) sum += up.ways * down.ways;
      continue;
    }
    const auto ends = found.ends.begin() + found.count;
    if (std::find(found.ends.begin(), ends, here) != ends) sum += up.ways;
  }
  return sum;
}

/// A way is the shortest of its NIC port, so the way back need not be one of the other port's.
void GraphPaths::check_backs(const Topology& topology, uint32_t source,
                             uint32_t destination) const {
  for (uint32_t p = 0; p < ports_; ++p) {
    const Ways there = ways(at(source, p).of_switch, destination);
    for (uint32_t i = 0; i < there.count; ++i) {
      if (ways(there.ends[i].of_switch, source).links == there.links) continue;
      throw std::invalid_argument("a path from " + name_of(topology, source) + " to " +
                                  name_of(topology, destination) + " with no way back");
    }
  }
}

void GraphPaths::check(const Topology& topology) {
  std::map<std::vector<uint32_t>, std::vector<uint32_t>> alike;  // two hosts of each kind
  for (uint32_t h = 0; h < hosts_; ++h) {
    std::vector<uint32_t> on;
    for (uint32_t p = 0; p < ports_; ++p) on.push_back(at(h, p).of_switch);
    std::vector<uint32_t>& hosts = alike[on];
    if (hosts.empty()) unlike_.push_back(h);
    if (hosts.size() < 2) hosts.push_back(h);
  }
  std::vector<uint32_t> twin(hosts_, kNoLeaf);
  for (const auto& [on, hosts] : alike) {
    if (hosts.size() == 2) twin[hosts[0]] = hosts[1];
  }
  const auto every_pair = [&](auto&& look) {
    for (const uint32_t destination : unlike_) {
      for (const uint32_t source : unlike_) {
        const uint32_t from = source == destination ? twin[source] : source;
        if (from != kNoLeaf) look(from, destination);
      }
    }
  };
  every_pair([&](uint32_t source, uint32_t destination) {
    bool reached = false;
    for (uint32_t p = 0; p < ports_; ++p) {
      const Ways found = ways(at(source, p).of_switch, destination);
      if (found.count == 0) continue;
      reached = true;
      if (found.links >= kUsidsInCarrier) {
        throw std::invalid_argument("a path over more switches than a carrier has uSIDs");
      }
      if (found.ways > kMaxPathsOfPort) {
        throw std::invalid_argument("more than " + std::to_string(kMaxPathsOfPort) +
                                    " shortest paths from one NIC port to one host");
      }
      longest_ = std::max(longest_, found.links + 1);
      most_places_ = std::max(most_places_, found.ways - (found.links == 0 ? 1 : 0));
    }
    if (!reached) {
      throw std::invalid_argument("no path from " + name_of(topology, source) + " to " +
                                  name_of(topology, destination));
    }
  });
  if (planes_apart_) return;  // what leaves by a port comes to a port of that number
  every_pair(
      [&](uint32_t source, uint32_t destination) { check_backs(topology, source, destination); });
}

}  // namespace mrclab
