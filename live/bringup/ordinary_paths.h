#pragma once
// Which paths ordinary traffic of the hosts' kernels takes: ping, iperf3, ssh, a program of
// `exec:`. A pair of hosts has one way out of each NIC port, over the first path from there that is
// not known to be dead; the kernel spreads flows over the ways by a hash. Pure; ordinary_routes.h
// keeps the kernel in step.
//
// Faults count as a routing protocol would announce them: no carrier, a dark wire, all
// frames lost, a switch that forwards nothing or lacks the route. A share of frames that is lost,
// late or damaged moves no traffic, as no routing protocol would notice it.

#include <cstdint>
#include <vector>

#include "fabric/node/effect.h"
#include "fabric/topology/path.h"
#include "fabric/topology/topology.h"

namespace mrclab::lab {

/// Wires and switches over which nothing gets through.
class DeadParts {
 public:
  explicit DeadParts(const Topology& topology);

  /// An effect that is in force; one under which something still gets through changes nothing.
  void add(const Effect& effect);
  /// Both of its wires.
  void add_link(LinkId link);

  /// Does every wire and switch of the path carry something? The hosts must have the path.
  bool carries(uint32_t from, uint32_t to, Path path) const;
  bool operator==(const DeadParts& other) const {
    return wires_ == other.wires_ && nodes_ == other.nodes_;
  }

 private:
  void add_wire(WireId wire);
  void add_route(const SwitchRoute& route);

  const Topology* topology_;  // never null; a pointer, so that this can be assigned
  std::vector<bool> wires_;   // by WireId
  std::vector<bool> nodes_;   // by NodeId
  bool any_ = false;
};

/// Over how many ports a pair of hosts may be spread: all in fabrics of up to about a hundred hosts, fewer in
/// bigger ones, where each way of each pair costs the kernel memory and the lab time to come up.
uint32_t most_ordinary_ways(const Topology& topology);

/// At most one path for each NIC port of `from`, and at most most_ordinary_ways(); empty if none is left.
/// Without faults the paths of a regular fabric are the same in both directions, and some pair uses each
/// spine of each plane.
std::vector<Path> ordinary_paths(const Topology& topology, uint32_t from, uint32_t to,
                                 const DeadParts& dead);

}  // namespace mrclab::lab
