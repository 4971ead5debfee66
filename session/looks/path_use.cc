#include "session/looks/path_use.h"

#include <map>
#include <tuple>

#include "analysis/history/path_wires.h"
#include "analysis/measure/path_states.h"
#include "fabric/packet/drop_kind.h"
#include "fabric/packet/headers.h"
#include "fabric/topology/path.h"

namespace mrclab::lab {

using nlohmann::json;

PathsUsed paths_used(const Recording& recording, const Topology& topology, FabricTime from,
                     FabricTime to) {
  struct Count {
    uint32_t sent = 0, lost = 0, trimmed = 0, marked = 0;
  };
  using Cell = std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>;  // hosts, QP, EV
  std::map<Cell, Count> cells;
  PathsUsed used{json::array()};
  for (size_t bin = recording.bin_of(from); bin < recording.bins() && bin <= recording.bin_of(to);
       ++bin) {
    for (const SeenPacket& p : recording.packets(bin)) {
      if (p.t < from || p.t > to || !carries_data(static_cast<Opcode>(p.opcode))) continue;
      if (p.source == SeenPacket::kNoHost || p.destination == SeenPacket::kNoHost) {
        if (p.qp.value != 0) ++used.unknown;
        continue;
      }
      Count& count = cells[{p.source, p.destination, p.qp.value, p.ev.value}];
      if (p.event == PacketEvent::kDropped) {
        count.lost += drop_kind(p.cause) != DropKind::kRefused ? 1 : 0;
      } else if (topology.wire(p.wire).from.node == topology.host(p.source)) {
        ++count.sent;
      }
      if (p.event == PacketEvent::kTrimmed) ++count.trimmed;
      if (p.flags & SeenPacket::kMarkedHere) ++count.marked;
    }
  }
  for (const auto& [cell, count] : cells) {
    const auto& [source, destination, qp, ev] = cell;
    const auto path = path_of(EntropyValue{ev});
    used.cells.push_back({source, destination, qp, ev, path ? to_string(*path) : "", count.sent,
                          count.lost, count.trimmed, count.marked});
  }
  return used;
}

json paths_out(const Recording& recording, const Topology& topology, FabricTime at) {
  analysis::EventHistory events(topology);
  for (const SeenEvent& e : recording.events()) {
    if (e.t > at) break;
    events.add(e.node, {e.t, e.kind, e.port, e.qp, e.ev, e.psn, e.cause, e.detail});
  }
  events.finish();
  analysis::PathStates states;
  for (const analysis::PathNews& news : events.paths()) states.take(news);
  json list = json::array();
  for (const auto& [key, state] : states.all()) {
    const bool down = states.plane_down(key.host, key.qp, key.plane);
    const bool as_ever = key.ev ? down || state.word == analysis::PathWord::kGood : !down;
    if (as_ever) continue;
    const auto path = key.ev ? path_of(*key.ev) : std::nullopt;
    if (key.ev && !path) continue;  // a number that no page shows as a path
    list.push_back({key.host, key.qp.value,
                    path ? to_string(*path) : "p" + std::to_string(key.plane),
                    key.ev ? name_of(state.word) : name_of(analysis::PathWord::kPortDown)});
  }
  return list;
}

std::vector<uint32_t> links_of_path(const Topology& topology, uint32_t source, uint32_t destination,
                                    Path path) {
  std::vector<uint32_t> links;
  const auto built = analysis::built_path(topology, source, destination, ev_of(path));
  if (!built) return links;
  for (const WireId wire : analysis::wires_of(topology, source, destination, *built)) {
    links.push_back(topology.wire(wire).link.value);
  }
  return links;
}

}  // namespace mrclab::lab
