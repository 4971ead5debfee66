#include "analysis/frame/sender_tally.h"

#include <algorithm>

#include "fabric/topology/programs/program_table.h"

namespace mrclab::analysis {
namespace {

void add_to(SenderTally::Arrived& all, const SenderTally::Arrived& more) {
  all.packets += more.packets;
  all.first = std::min(all.first, more.first);
}

/// The entry of a way, while there is room for it.
template <class Map>
auto* entry_of(Map& map, const typename Map::key_type& key) {
  const auto found = map.find(key);
  if (found != map.end()) return &found->second;
  return map.size() < SenderTally::kMostWays ? &map[key] : nullptr;
}

}  // namespace

void SenderTally::add(const SenderTally& more) {
  for (const auto& [key, count] : more.drops) drops[key] += count;
  for (const auto& [way, count] : more.sent) sent[way] += count;
  for (const auto& [way, by] : more.forged_by) forged_by[way] = by;
  for (const auto& [way, these] : more.datagrams) add_to(datagrams[way], these);
  for (const auto& [way, these] : more.foreign) add_to(foreign[way], these);
  arrivals += more.arrivals;
  crossings += more.crossings;
  counted += more.counted;
  uncounted += more.uncounted;
}

void SenderTally::left(uint32_t host, uint32_t source, uint32_t receiver) {
  if (uint64_t* const count = entry_of(sent, {host, receiver})) ++*count;
  if (source == host) return;
  if (uint32_t* const by = entry_of(forged_by, {source, receiver})) {
    *by = host;
  } else {
    ++uncounted;
  }
}

void SenderTally::arrived(uint32_t source, uint32_t host, bool datagram, FabricTime t,
                          const Topology& topology) {
  ++arrivals;
  if (!datagram && same_tenant(topology, source, host)) return;
  if (Arrived* const of = entry_of(datagram ? datagrams : foreign, {source, host})) {
    add_to(*of, {1, t});
  } else {
    ++uncounted;
  }
}

void SenderTally::dropped(const Topology& topology, PortRef where, bool out, DropCause cause,
                          std::optional<uint32_t> claimed) {
  std::optional<uint32_t> sender = claimed;
  if (topology.node(where.node).role == NodeRole::kHost) {
    if (out) sender = topology.node(where.node).index;
  } else if (!out && where.port.value < topology.node(where.node).ports.size()) {
    const NodeSite& peer = topology.node(topology.port(where).peer.node);
    if (peer.role == NodeRole::kHost) sender = peer.index;
  }
  if (sender) ++drops[{*sender, cause}];
}

std::vector<SenderTally::Intrusion> SenderTally::intrusions(const Topology& topology) const {
  std::vector<Intrusion> found;
  for (const auto& [way, these] : foreign) found.push_back({way.first, way.second, these, false});
  for (const auto& [way, these] : datagrams) {
    const auto forger = forged_by.find(way);
    const uint32_t from = forger == forged_by.end() ? way.first : forger->second;
    if (same_tenant(topology, from, way.second)) continue;
    found.push_back({from, way.second, these, from != way.first});
  }
  return found;
}

}  // namespace mrclab::analysis
