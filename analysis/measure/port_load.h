#pragma once
// How busy the ways to the ports of hosts are, and how long their packets wait.

#include <cstdint>
#include <map>
#include <utility>

#include "analysis/history/packet_history.h"

namespace mrclab::analysis {

/// What the data packets to one host port met in some interval.
struct PortLoad {
  uint32_t packets = 0;
  /// The time that the busiest wire of their way needed for what it carried: the wire to the port, or one before it,
  /// where flows meet that have no other way. Of several ways the one that is least busy counts.
  FabricTime busy = FabricTime::never();
  FabricTime least_wait = FabricTime::never();  ///< the packet that waited least
  bool roce = false;                            ///< some of them are RoCE's
};
using PortLoads = std::map<std::pair<uint32_t, uint32_t>, PortLoad>;  ///< by host and plane

/// For each receiving host and plane: how busy its ways were with the data packets that arrived in
/// [from, until), and the least that any of them waited on its way.
PortLoads port_loads(const Topology& topology, const PacketHistory& history, FabricTime from,
                     FabricTime until);

}  // namespace mrclab::analysis
