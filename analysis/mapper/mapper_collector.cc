#include "analysis/mapper/mapper_collector.h"

#include <algorithm>
#include <functional>
#include <iterator>

#include "analysis/blame/blamer.h"
#include "analysis/mapper/ev_samples.h"
#include "analysis/mapper/probe_samples.h"
#include "analysis/mapper/probe_statistics.h"
#include "fabric/probes/probe_route.h"

namespace mrclab::analysis {
namespace {

/// An entropy value becomes bad for no broken part with this probability in a period: full queues lose packets, too (our
/// choice: three make no finding).
constexpr double kEventChance = 0.005;

/// When the report that has this probe comes.
FabricTime reported_at(const MapperResult& result, FabricTime sample) {
  return result.period * (sample.ps() / result.period.ps() + 1) + result.timeout;
}

struct SampleWitness {
  const char* noun;  ///< what one of its samples is
  double chance;     ///< a sample is bad for no broken part with this probability
  std::function<FabricTime(FabricTime)>
      known_at;  ///< when the collector has the sample of this instant
};

/// Parts that explain these samples.
std::vector<MapperFinding> explain(const Topology& topology, const PortLight& light,
                                   const std::vector<BlameSample>& samples,
                                   const SampleWitness& witness, const MapperResult& result) {
  const double chance = witness.chance;
  SearchOptions options;
  options.chance = chance;
  // A share of loss that is no more than chance would make every good one evidence.
  options.severities.clear();
  std::copy_if(kLossBank.begin(), kLossBank.end(), std::back_inserter(options.severities),
               [chance](double share) { return share > chance; });
  options.least_gain = result.threshold;
  options.probed_every = result.period;
  options.noun = witness.noun;
  std::vector<Blame> blames;
  // No event but the samples' own is looked at: each is a witness by itself.
  blame_by_samples(topology, EventHistory(topology), light, samples, options, std::nullopt, blames);
  std::vector<MapperFinding> found;
  for (Blame& blame : blames) {
    if (blame.places > kMostPlaces) continue;
    const FabricTime named = witness.known_at(blame.named);
    const Interval95 loss = wilson(blame.bad, blame.of);
    found.push_back({std::move(blame), named, loss.low, loss.high});
  }
  return found;
}

bool same_class(const Blame& a, const Blame& b) {
  std::vector<std::string> names = b.or_else;
  names.push_back(b.kind + " " + b.component);
  const auto named = [&](const std::string& name) {
    return std::count(names.begin(), names.end(), name) > 0;
  };
  return named(a.kind + " " + a.component) ||
         std::any_of(a.or_else.begin(), a.or_else.end(), named);
}

void sort_by_naming(std::vector<MapperFinding>& findings) {
  std::stable_sort(findings.begin(), findings.end(),
                   [](const auto& a, const auto& b) { return a.named < b.named; });
}

}  // namespace

std::vector<MapperFinding> findings_of(const MapperResult& result, MapperWitness by) {
  if (by == MapperWitness::kEvents) return result.by_events;
  std::vector<MapperFinding> both = result.found;
  if (by == MapperWitness::kProbes) return both;
  for (const MapperFinding& finding : result.by_events) {
    const bool known =
        std::any_of(result.found.begin(), result.found.end(), [&](const MapperFinding& probed) {
          return probed.part.from <= finding.part.until && finding.part.from <= probed.part.until &&
                 same_class(probed.part, finding.part);
        });
    if (!known) both.push_back(finding);
  }
  sort_by_naming(both);
  return both;
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
  const SampleWitness agents{"probe", kProbeChance,
                             [&](FabricTime sample) { return reported_at(result, sample); }};
  result.found = explain(topology, probes.light, probes.samples, agents, result);
  sort_by_naming(result.found);
  uint64_t explained = 0;
  for (const MapperFinding& finding : result.found) explained += finding.part.bad;
  result.unexplained = result.lost - std::min(result.lost, explained);
  const EvSamples reported = ev_samples(topology, events, result.period);
  result.ev_events = reported.events;
  // A host reports a path at the instant at which it leaves it.
  const SampleWitness hosts{"path", kEventChance,
                            [&](FabricTime sample) { return sample + noticed_after(topology); }};
  result.by_events = explain(topology, probes.light, reported.samples, hosts, result);
  // A host that loses by all of its ports is no part of the fabric: the host paused, or answers to it came late. And where the
  // paths of all queue pairs lead over the same switches, no report distinguishes these switches.
  std::erase_if(result.by_events, [](const MapperFinding& finding) {
    return finding.part.kind == "host" || finding.part.places > 1;
  });
  sort_by_naming(result.by_events);
  return result;
}

}  // namespace mrclab::analysis
