#pragma once
// The paths of a fabric that is no regular planes: between two hosts all shortest ones, listed once.
// An EV's low half is the place in the list of its NIC port (fabric/topology/ev_path.h); a path over one switch is
// the port's T0-local one.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fabric/topology/ev_path.h"
#include "fabric/topology/topology.h"

namespace mrclab {

class GraphPaths {
 public:
  /// Bounds on the paths of all host pairs together, and on those of one NIC port to one host.
  static constexpr size_t kMaxPaths = 1 << 16, kMaxPathsOfPort = 1024;

  struct Routed {
    Path path;
    /// Where a frame leaves: the NIC's port, then one port of each switch.
    std::vector<PortRef> exits;
    /// The same switches and links, seen from the destination.
    Path back;
  };

  /// Finds the paths of a connected graph. Throws std::invalid_argument if two hosts cannot reach
  /// one another, a path has more uSIDs than a carrier holds, or there are too many.
  explicit GraphPaths(const Topology& topology);

  /// All paths between two hosts, in the order of their EVs.
  std::span<const Routed> between(uint32_t source, uint32_t destination) const {
    return of_pair_[source * hosts_ + destination];
  }
  const Routed* find(uint32_t source, uint32_t destination, Path path) const;
  /// Switches on the longest path.
  uint32_t longest() const { return longest_; }
  /// How many places a port's list has at most, the T0-local one not counted.
  uint32_t most_places() const { return most_places_; }

 private:
  void find_backs(const Topology& topology);

  uint32_t hosts_;
  uint32_t longest_ = 1;
  uint32_t most_places_ = 0;
  std::vector<std::vector<Routed>> of_pair_;
};

}  // namespace mrclab
