#pragma once
// Which paths go over a wire.

#include <cstdint>

#include "fabric/topology/path.h"
#include "fabric/topology/topology.h"

namespace mrclab::analysis {

/// Does a path of (source host, destination host) go over a wire? Regular planes only.
class WireMatcher {
 public:
  WireMatcher(const Topology& topology, WireId wire);
  bool crosses(uint32_t source, uint32_t destination, Path path) const;
  /// Does any path between the two?
  bool reachable(uint32_t source, uint32_t destination) const;
  /// The share of a sender's packets that this wire gets when it sprays equally: 1 in `paths()`.
  uint32_t paths() const { return paths_; }
  /// Does the wire join a T0 and a T1?
  bool between_switches() const { return kind_ == Kind::kT0Up || kind_ == Kind::kT0Down; }

 private:
  enum class Kind : uint8_t { kHostUp, kHostDown, kT0Up, kT0Down };
  Kind kind_ = Kind::kHostUp;
  uint32_t plane_ = 0, place_ = 0, uplink_ = 0;  // place: host number or T0 row
  uint32_t hosts_per_row_ = 1, paths_ = 1;
  const Topology* graph_ = nullptr;  // no regular planes: `wire_` is looked for on each path
  WireId wire_;
};

}  // namespace mrclab::analysis
