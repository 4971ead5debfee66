#pragma once
// Which ports of two hosts are up, as each reports to the other (MRC paper §3; specification §7.4.8).
//
// In planes a packet arrives at the port with the number of the one that it left by. In other fabrics a
// path joins some port of the one NIC with some port of the other (fabric/topology/ev_path.h), and both count.

#include <cstdint>
#include <functional>

#include "fabric/topology/path.h"

namespace mrclab::endpoint {

/// Bits: ports of this NIC, ports of the peer's.
struct LivePorts {
  uint32_t own = ~0u;
  uint32_t peer = ~0u;
};

/// The port of the peer that a path leads to.
using PeerPortOf = std::function<uint32_t(Path)>;
/// The port of the peer in planes: the one with the same number.
inline uint32_t same_port(Path path) { return path.plane; }

}  // namespace mrclab::endpoint
