#include "analysis/measure/path_states.h"

#include <algorithm>

#include "analysis/history/path_wires.h"

namespace mrclab::analysis {
namespace {

/// The host at the other end of a queue pair, by the hosts' reports.
std::optional<uint32_t> peer_of(const Topology& topology, const HostReports& hosts,
                                const PathStates::Key& key) {
  for (const HostReport& host : hosts.hosts) {
    if (host.host != topology.node(topology.host(key.host)).name) continue;
    for (const QueueReport& queue : host.queues) {
      if (queue.qp == key.qp) return queue.peer;
    }
  }
  return std::nullopt;
}

/// Does the path of this key, or some path of its plane, lead over the wire? If the peer is not
/// known, paths to every host count.
bool leads_over(const Topology& topology, const WireMatcher& wire, const PathStates::Key& key,
                std::optional<uint32_t> peer) {
  for (uint32_t to = 0; to < topology.host_count(); ++to) {
    if (to == key.host || (peer && *peer != to)) continue;
    for (const Path path : paths_between(topology, key.host, to)) {
      const bool of_it =
          key.ev ? built_path(topology, key.host, to, *key.ev) == path : path.plane == key.plane;
      if (of_it && wire.crosses(key.host, to, path)) return true;
    }
  }
  return false;
}

}  // namespace

void accept_usable(const Topology& topology, const EventHistory& events, const HostReports& hosts,
                   std::vector<FaultMeasurement>& faults) {
  if (!events.heard() || events.complete_until() != FabricTime::never()) return;
  PathStates states;
  for (const PathNews& news : events.paths()) states.take(news);
  const auto is_usable = [&](WireId wire) {
    const WireMatcher matcher(topology, wire);
    return std::none_of(states.all().begin(), states.all().end(), [&](const auto& entry) {
      const auto& [key, state] = entry;
      return !state.usable && leads_over(topology, matcher, key, peer_of(topology, hosts, key));
    });
  };
  for (FaultMeasurement& fault : faults) {
    std::erase_if(fault.unused, is_usable);
    std::erase_if(fault.unjudged, is_usable);
  }
}

}  // namespace mrclab::analysis
