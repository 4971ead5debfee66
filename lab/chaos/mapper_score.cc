#include "lab/chaos/mapper_score.h"

#include <algorithm>

#include "analysis/mapper/mapper_collector.h"
#include "analysis/mapper/probe_samples.h"
#include "fabric/probes/probe_route.h"
#include "fabric/text/yaml.h"
#include "faults/schedule.h"
#include "lab/chaos/blame_target.h"
#include "scenario/simulation/simulation.h"

namespace mrclab::lab {
namespace {

/// Loses no probe of an agent: what else is lost at its targets while it is on, another fault takes.
bool spares_probes(faults::FaultKind kind) {
  switch (kind) {
    case faults::FaultKind::kDuplicate:
    case faults::FaultKind::kEcnAlways:
    case faults::FaultKind::kLossyEv:
    case faults::FaultKind::kSlowReceiver:
    case faults::FaultKind::kPcieStall:
    case faults::FaultKind::kIncast:
    case faults::FaultKind::kAttack:
    case faults::FaultKind::kPauseStorm: return true;
    default: return false;
  }
}

/// Lost probes over the target while the fault was on, and hosts' reports of ports that it made dark.
TargetHits probes_hit(const Topology& t, const std::vector<analysis::BlameSample>& samples,
                      const BlameCase& of, std::span<const BlameCase> rivals) {
  const auto takes = [&](const BlameCase& broken, const analysis::BlameSample& sample) {
    if (spares_probes(broken.fault->kind)) return false;
    const faults::Interval on = faults::interval_of(*broken.fault, t);
    if (sample.t + kBlameSlack < on.start || sample.t > on.last_heal + kBlameSlack) return false;
    const auto end = sample.wires.begin() + sample.wire_count;
    return std::any_of(sample.wires.begin(), end, [&](WireId wire) {
      return broken.target->wires.contains(wire) ||
             broken.target->nodes.contains(t.wire(wire).to.node);
    });
  };
  TargetHits hits;
  for (const analysis::BlameSample& sample : samples) {
    if (!sample.bad || !takes(of, sample)) continue;
    const uint64_t weight = analysis::is_word(sample) ? kObservableHits : 1;
    hits.all += weight;
    const bool alone = std::none_of(rivals.begin(), rivals.end(), [&](const BlameCase& rival) {
      return same_damage(rival.fault->kind, of.fault->kind) && takes(rival, sample);
    });
    hits.alone += alone ? weight : 0;
  }
  return hits;
}

}  // namespace

void switch_mapper_on(Scenario& scenario) {
  MapperProfile mapper;
  mapper.on = true;
  for (mapper.period.rtts = 1; mapper.period.rtts < 1000; ++mapper.period.rtts) {
    scenario.topology.mapper = mapper;
    if (probe_share(scenario.topology) <= kMostProbeShare) break;
  }
  scenario.fabric.mapper = mapper;
  if (const auto misfit = mapper_misfit(scenario.topology)) {
    throw InputError("--mapper: found " + *misfit + ": expected regular planes of our switches");
  }
}

BlameScore score_mapper(const std::string& run, const Scenario& scenario, MapperWitness by) {
  const Topology& t = scenario.topology;
  analysis::Evidence evidence(t, scenario.schedule, scenario.stop());
  {
    Simulation simulation(scenario, 1,
                          [&](NodeId node) -> NodeObserver& { return evidence.observer(node); });
    simulation.run();
  }
  evidence.finish();
  const auto result = analysis::mapper_result(t, evidence.events(), evidence.coverage());
  analysis::MapperResult counts;
  const auto samples = analysis::probe_samples(t, evidence.events(), counts).samples;
  std::vector<analysis::Blame> blames;
  std::vector<FabricTime> named;
  for (const analysis::MapperFinding& finding : analysis::findings_of(*result, by)) {
    blames.push_back(finding.part);
    named.push_back(finding.named);
  }
  return score_parts(run, scenario, blames, named,
                     [&](const BlameCase& of, std::span<const BlameCase> rivals) {
                       return probes_hit(t, samples, of, rivals);
                     });
}

}  // namespace mrclab::lab
