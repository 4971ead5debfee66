#include "analysis/measure/outages.h"

#include <algorithm>

#include "analysis/history/path_wires.h"

namespace mrclab::analysis {

Outages::Outages(const Topology& topology, std::span<const FaultSpan> faults,
                 std::span<const ScheduledEffect> schedule)
    : topology_(topology) {
  for (const FaultSpan& fault : faults) {
    for (const Impairment& i : fault.impairments) wires_[i.wire].push_back({i.from, i.until});
  }
  for (const ScheduledEffect& scheduled : schedule) {
    if (const auto* denial = std::get_if<EvDenial>(&scheduled.effect)) deny(*denial, scheduled.at);
  }
}

bool Outages::path_lives(uint32_t source, uint32_t destination, FabricTime from,
                         FabricTime until) const {
  for (const Path path : paths_between(topology_, source, destination)) {
    const std::vector<WireId> wires = wires_of(topology_, source, destination, path);
    const bool works = std::all_of(wires.begin(), wires.end(), [&](WireId wire) {
      const auto found = wires_.find(wire);
      return found == wires_.end() || !overlaps(found->second, from, until);
    });
    if (works && !denied(source, destination, path, from, until)) return true;
  }
  return false;
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
