#pragma once
// How busy the ports toward hosts are, and how long their packets wait.

#include <cstdint>
#include <map>
#include <utility>

#include "analysis/history/packet_history.h"

namespace mrclab::analysis {

/// What the data packets to one host port met in some interval.
struct PortLoad {
  uint32_t packets = 0;
  FabricTime busy;                              ///< the time that the port needs to send them
  FabricTime least_wait = FabricTime::never();  ///< the packet that waited least
};
using PortLoads = std::map<std::pair<uint32_t, uint32_t>, PortLoad>;  ///< by host and plane

/// For each receiving host and plane: how busy its port was with the data packets that arrived in
/// [from, until), and the least that any of them waited on its way.
PortLoads port_loads(const Topology& topology, const PacketHistory& history, FabricTime from,
                     FabricTime until);

}  // namespace mrclab::analysis
