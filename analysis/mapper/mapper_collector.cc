#include "analysis/mapper/mapper_collector.h"

#include <algorithm>
#include <cmath>

#include "analysis/blame/blamer.h"
#include "analysis/mapper/probe_samples.h"
#include "analysis/mapper/probe_statistics.h"
#include "fabric/probes/probe_route.h"

namespace mrclab::analysis {
namespace {

/// Shares of lost probes: a dark part, which loses all, so that one that comes back counts as much against it as two lost
/// ones do for it; and gray failures.
const std::vector<double> kBank = {
    1 - kProbeChance * kProbeChance, 0.9, 0.5, 0.2, 0.05, 0.01, 0.001};
/// A part is not named before as many are left as this, itself and its equals (our choice).
constexpr uint32_t kMostPlaces = 4;

uint64_t probes_a_period(const Topology& topology) {
  const ProbeGrid grid = grid_of(topology);
  uint64_t probes = 0;
  for (uint32_t host = 0; host < topology.host_count(); ++host) {
    probes += probes_of(grid, topology.mapper, host, 0, 0).size() * topology.planes;
  }
  return probes;
}

/// When the report that has this sample comes.
FabricTime reported_at(const MapperResult& result, FabricTime sample) {
  return result.period * (sample.ps() / result.period.ps() + 1) + result.timeout;
}

}  // namespace

double alarm_threshold(uint64_t probes) {
  return std::log(static_cast<double>(std::max<uint64_t>(probes, 1)) * kPeriodsPerAlarm *
                  static_cast<double>(kBank.size()));
}

std::optional<MapperResult> mapper_result(const Topology& topology, const EventHistory& events,
                                          const Coverage& coverage) {
  if (!topology.mapper.on) return std::nullopt;
  MapperResult result;
  result.period = probe_period(topology);
  result.timeout = probe_timeout(topology);
  result.form = topology.mapper.form;
  result.share = probe_share(topology);
  result.threshold = alarm_threshold(probes_a_period(topology));
  const ProbeSamples probes = probe_samples(topology, events, result);
  if (!coverage.whole(Witness::kEvents)) {
    result.none = coverage.why(Witness::kEvents);
    return result;
  }
  SearchOptions options;
  options.chance = kProbeChance;
  options.severities = kBank;
  options.least_gain = result.threshold;
  options.probed_every = result.period;
  std::vector<Blame> blames;
  // No event but the agents' reports is looked at: the mapper is a witness of its own.
  blame_by_samples(topology, EventHistory(topology), probes.light, probes.samples, options,
                   std::nullopt, blames);
  uint64_t explained = 0;
  for (Blame& blame : blames) {
    if (blame.places > kMostPlaces) continue;
    explained += blame.bad;
    const FabricTime named = reported_at(result, blame.named);
    const Interval95 loss = wilson(blame.bad, blame.of);
    result.found.push_back({std::move(blame), named, loss.low, loss.high});
  }
  result.unexplained = result.lost - std::min(result.lost, explained);
  std::stable_sort(result.found.begin(), result.found.end(),
                   [](const auto& a, const auto& b) { return a.named < b.named; });
  return result;
}

}  // namespace mrclab::analysis
