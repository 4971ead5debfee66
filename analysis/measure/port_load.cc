#include "analysis/measure/port_load.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "analysis/history/path_wires.h"
#include "fabric/packet/headers.h"
#include "fabric/topology/graph_paths.h"

namespace mrclab::analysis {
namespace {

/// METH, TSETH, RETH and the ICRC behind BTH (fabric/packet/headers.h).
constexpr uint64_t kWriteHeaderBytes = kAfterBthOffset + 4 + 4 + 16 + kIcrcBytes;

/// RC packets have no outer header, and most of them no RETH.
uint64_t header_bytes(const Flow& flow) {
  return flow.roce ? layout_of(Encapsulation::kIpv6).after_bth + kIcrcBytes : kWriteHeaderBytes;
}

struct Way {
  std::pair<uint32_t, uint32_t> port;  ///< host and plane
  std::vector<WireId> wires;           ///< none if the fabric as built has no such way
};
/// By source, destination and entropy value.
using Ways = std::map<std::tuple<uint32_t, uint32_t, uint32_t>, Way>;

/// The judge does not compute which way a hash takes where switches route by themselves or a NIC's ports lead to any port
/// of another: empty, unless one way alone leads there.
std::optional<Path> path_of_flow(const Topology& topology, const Flow& flow, EntropyValue ev) {
  const auto path = built_path(topology, flow.source, flow.destination, ev);
  if (path || topology.regular()) return path;
  const auto all = topology.graph->between(flow.source, flow.destination);
  return all.size() == 1 ? std::optional(all.front()) : std::nullopt;
}

const Way& way_of(const Topology& topology, const Flow& flow, EntropyValue ev, Ways& ways) {
  const auto [at, added] = ways.try_emplace({flow.source, flow.destination, ev.value});
  if (added) {
    if (const auto path = path_of_flow(topology, flow, ev)) {
      at->second = {{flow.destination, path->plane},
                    wires_of(topology, flow.source, flow.destination, *path)};
    }
  }
  return at->second;
}

}  // namespace

PortLoads port_loads(const Topology& topology, const PacketHistory& history, FabricTime from,
                     FabricTime until) {
  PortLoads ports;
  Ways ways;
  std::vector<FabricTime> busy(topology.all_wires().size());
  for (const Attempt& attempt : history.attempts()) {
    const bool inside = attempt.ended >= from && attempt.ended < until;
    if (attempt.fate != Fate::kDelivered || !attempt.start_seen || !inside) continue;
    const Packet& packet = history.packets()[attempt.packet];
    const Flow& flow = history.flows()[packet.flow];
    const Way& way = way_of(topology, flow, attempt.ev, ways);
    if (way.wires.empty()) continue;
    const Bytes length = wire_length({packet.payload + header_bytes(flow)});
    for (const WireId wire : way.wires) {
      busy[wire.value] += serialization_time(length, topology.wire(wire).rate);
    }
    const FabricTime idle = idle_transit(topology, way.wires, length);
    PortLoad& port = ports[way.port];
    ++port.packets;
    port.roce = port.roce || flow.roce;
    port.least_wait = std::min(port.least_wait,
                               std::max(attempt.ended - attempt.start - idle, FabricTime::zero()));
  }
  for (const auto& [key, way] : ways) {
    FabricTime busiest;
    for (const WireId wire : way.wires) busiest = std::max(busiest, busy[wire.value]);
    if (!way.wires.empty()) ports[way.port].busy = std::min(ports[way.port].busy, busiest);
  }
  return ports;
}

}  // namespace mrclab::analysis
