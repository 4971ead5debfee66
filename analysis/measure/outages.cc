#include "analysis/measure/outages.h"

#include <algorithm>

#include "analysis/history/path_wires.h"
#include "fabric/paths/ecmp.h"
#include "fabric/topology/graph_paths.h"

namespace mrclab::analysis {

Outages::Outages(const Topology& topology, std::span<const FaultSpan> faults,
                 std::span<const ScheduledEffect> schedule)
    : topology_(topology) {
  for (const FaultSpan& fault : faults) {
    for (const Impairment& i : fault.impairments) wires_[i.wire].push_back({i.from, i.until});
    for (const SlowedReceiver& r : fault.receivers) receivers_[r.host].push_back({r.from, r.until});
  }
  for (const ScheduledEffect& scheduled : schedule) {
    if (const auto* denial = std::get_if<EvDenial>(&scheduled.effect)) deny(*denial, scheduled.at);
    if (const auto* carrier = std::get_if<PortCarrier>(&scheduled.effect))
      carriers_.push_back({scheduled.at, carrier->port, carrier->up});
  }
  std::stable_sort(carriers_.begin(), carriers_.end(),
                   [](const CarrierChange& a, const CarrierChange& b) { return a.at < b.at; });
}

bool Outages::path_lives(uint32_t source, uint32_t destination, FabricTime from,
                         FabricTime until) const {
  for (const Path path : paths_between(topology_, source, destination)) {
    if (works(source, destination, path, from, until) &&
        !denied(source, destination, path, from, until)) {
      return true;
    }
  }
  return false;
}

bool Outages::works(uint32_t source, uint32_t destination, Path path, FabricTime from,
                    FabricTime until) const {
  const std::vector<WireId> wires = wires_of(topology_, source, destination, path);
  return std::all_of(wires.begin(), wires.end(), [&](WireId wire) {
    const auto found = wires_.find(wire);
    return found == wires_.end() || !overlaps(found->second, from, until);
  });
}

bool Outages::flow_lives(uint32_t source, uint32_t destination, Path flow, FabricTime from,
                         FabricTime until, bool adaptive) const {
  if (!topology_.regular()) {
    // Which of its ways a hash chose is not known: the flow surely lives where all of them work.
    const auto ways = topology_.graph->between(source, destination);
    return std::all_of(ways.begin(), ways.end(),
                       [&](Path way) { return works(source, destination, way, from, until); });
  }
  if (topology_.host_row(source) == topology_.host_row(destination)) {
    return works(source, destination, {flow.plane, kT0LocalUplink}, from, until);
  }
  const NodeId t0 = topology_.t0(flow.plane, topology_.host_row(source));
  const std::vector<PortId> uplinks = uplinks_of(topology_, t0);
  EcmpGroup group(uplinks, topology_.routing.resilient);
  // Which way a switch that routes by itself chose is not known here: any.
  const bool any_way = adaptive || topology_.routing.is_fare();
  const uint64_t hash =
      ecmp_hash(flow_of(topology_, source, destination, ev_of(flow)), ecmp_seed(topology_, t0));
  const auto lives = [&](FabricTime begin, FabricTime end) {
    if (group.empty()) return false;
    const std::vector<PortId> ways = any_way ? group.live() : std::vector{group.choose(hash)};
    return std::all_of(ways.begin(), ways.end(), [&](PortId port) {
      const auto uplink = std::find(uplinks.begin(), uplinks.end(), port) - uplinks.begin();
      return works(source, destination, {flow.plane, static_cast<uint32_t>(uplink)}, begin, end);
    });
  };
  FabricTime since = from;
  for (const CarrierChange& change : carriers_) {
    if (change.port.node != t0) continue;
    if (change.at > until) break;
    if (change.at > since) {
      if (!lives(since, change.at)) return false;
      since = change.at;
    }
    group.set_live(change.port.port, change.up);
  }
  return lives(since, until);
}

bool Outages::receiver_slowed(uint32_t host, FabricTime from, FabricTime until) const {
  const auto found = receivers_.find(topology_.host(host));
  return found != receivers_.end() && overlaps(found->second, from, until);
}

bool Outages::overlaps(const Intervals& intervals, FabricTime from, FabricTime until) {
  return std::any_of(intervals.begin(), intervals.end(),
                     [&](const Interval& i) { return i.from <= until && i.until > from; });
}

void Outages::deny(const EvDenial& denial, FabricTime at) {
  Intervals& intervals = denials_[{denial.host, denial.ev, denial.toward}];
  if (denial.denied) {
    intervals.push_back({at});
  } else if (!intervals.empty()) {
    intervals.back().until = at;
  }
}

bool Outages::denied(uint32_t source, uint32_t destination, Path path, FabricTime from,
                     FabricTime until) const {
  for (const NodeId toward : {NodeId{}, topology_.host(destination)}) {
    const auto found = denials_.find({topology_.host(source), ev_of(path), toward});
    if (found != denials_.end() && overlaps(found->second, from, until)) return true;
  }
  return false;
}

}  // namespace mrclab::analysis
