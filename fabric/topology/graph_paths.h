#pragma once
// The paths of a fabric whose switches are linked one by one, or in three tiers: between two hosts all shortest ones.
// None is stored. For each switch with hosts there is how far every switch is from it and over how many ways, so that
// the k-th path of a pair, and the place of a path, come of a walk past the ports of its switches. Memory is three
// bytes for each switch with hosts and each switch.
// An EV's low half is the place in the list of its NIC port (fabric/topology/ev_path.h), ordered by the ports that the
// paths leave by; a path over one switch is the port's T0-local one.

#include <cstdint>
#include <optional>
#include <vector>

#include "fabric/topology/ev_path.h"
#include "fabric/topology/topology.h"

namespace mrclab {

class GraphPaths {
 public:
  /// Bound on the paths of one NIC port to one host.
  static constexpr uint32_t kMaxPathsOfPort = 1024;

  /// Measures a connected graph. Throws std::invalid_argument if two hosts cannot reach one another,
  /// a path has more uSIDs than a carrier holds or no way back, or there are too many.
  explicit GraphPaths(const Topology& topology);

  /// All paths between two hosts, in the order of their EVs.
  std::vector<Path> between(uint32_t source, uint32_t destination) const;
  bool has(uint32_t source, uint32_t destination, Path path) const;
  /// Where a frame leaves: the NIC's port, then one port of each switch. Empty if there is no such path.
  std::vector<PortRef> exits(uint32_t source, uint32_t destination, Path path) const;
  /// The same switches and links, seen from the destination.
  std::optional<Path> back(uint32_t source, uint32_t destination, Path path) const;
  /// The path that leaves by these ports, the NIC's first; empty if it is no shortest one.
  std::optional<Path> along(uint32_t destination, const std::vector<PortRef>& exits) const;

  /// The ports of a switch that its shortest ways to the host leave by, in their order.
  std::vector<PortId> next_hops(NodeId of_switch, uint32_t host) const;
  /// How many paths the two hosts have, and how many of them leave a node by that port.
  uint32_t count(uint32_t source, uint32_t destination) const;
  uint32_t count_over(PortRef exit, uint32_t source, uint32_t destination) const;
  /// Links on a shortest way from any switch to one that hosts hang on; empty if none do.
  std::optional<uint32_t> links_between(NodeId leaf_switch, NodeId from) const;
  /// One host for each set of switches that some hang on: what is true of its paths is true of theirs.
  const std::vector<uint32_t>& unlike_hosts() const { return unlike_; }

  /// Switches on the longest path.
  uint32_t longest() const { return longest_; }
  /// How many places a port's list has at most, the T0-local one not counted.
  uint32_t most_places() const { return most_places_; }
  /// Does no switch reach NIC ports of two numbers?
  bool planes_apart() const { return planes_apart_; }

 private:
  /// A switch, numbered from 0, and a port of it.
  struct At {
    uint32_t of_switch = 0, port = 0;
    bool operator==(const At&) const = default;
  };
  /// A link as one of its ends sees it.
  struct Edge {
    uint32_t port;
    At peer;
  };
  struct Reach {
    uint32_t links, ways;
  };
  /// Shortest ways from one switch to a host: those of its NIC ports that are nearest.
  struct Ways;

  const At& at(uint32_t host, uint32_t port) const { return hosts_at_[host * ports_ + port]; }
  Reach reach(uint32_t leaf_switch, uint32_t from) const;
  Ways ways(uint32_t from, uint32_t host) const;
  Reach reach(const Ways& ways, uint32_t from) const;
  /// Adds the exits of the place-th way. Returns the NIC port that it ends at.
  void walk(const Ways& ways, uint32_t from, uint32_t place, std::vector<PortRef>& exits) const;
  std::optional<uint32_t> place_of(const Ways& ways, const std::vector<PortRef>& exits) const;
  const Edge* edge_at(PortRef port) const;
  void measure(uint32_t leaf_switch);
  void find_planes();
  void check(const Topology& topology);
  void check_backs(const Topology& topology, uint32_t source, uint32_t destination) const;

  uint32_t hosts_, ports_, switches_;
  std::vector<At> hosts_at_;              // by host and NIC port
  std::vector<std::vector<Edge>> edges_;  // by switch, in the order of its ports
  std::vector<uint32_t> leaf_of_;         // by switch: its number among those with hosts
  std::vector<uint8_t> links_to_;         // by leaf and switch
  std::vector<uint16_t> ways_to_;         // by leaf and switch
  std::vector<uint32_t> unlike_;
  uint32_t longest_ = 1;
  uint32_t most_places_ = 0;
  bool planes_apart_ = true;
};

}  // namespace mrclab
