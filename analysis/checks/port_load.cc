#include "analysis/checks/port_load.h"

#include <algorithm>

#include "analysis/history/path_wires.h"
#include "fabric/packet/headers.h"

namespace mrclab::analysis {
namespace {

/// METH, TSETH, RETH and the ICRC behind BTH (fabric/packet/headers.h).
constexpr uint64_t kWriteHeaderBytes = kAfterBthOffset + 4 + 4 + 16 + kIcrcBytes;

}  // namespace

PortLoads port_loads(const Topology& topology, const PacketHistory& history, FabricTime from,
                     FabricTime until) {
  PortLoads ports;
  for (const Attempt& attempt : history.attempts()) {
    const bool inside = attempt.ended >= from && attempt.ended < until;
    if (attempt.fate != Fate::kDelivered || !attempt.start_seen || !inside) continue;
    const Packet& packet = history.packets()[attempt.packet];
    const Flow& flow = history.flows()[packet.flow];
    const auto path = built_path(topology, flow.source, flow.destination, attempt.ev);
    if (!path) continue;
    PortLoad& port = ports[{flow.destination, path->plane}];
    const Bytes length = wire_length({packet.payload + kWriteHeaderBytes});
    const FabricTime idle =
        idle_transit(topology, wires_of(topology, flow.source, flow.destination, *path), length);
    ++port.packets;
    port.busy += serialization_time(length, topology.host_rate);
    port.least_wait = std::min(port.least_wait,
                               std::max(attempt.ended - attempt.start - idle, FabricTime::zero()));
  }
  return ports;
}

}  // namespace mrclab::analysis
