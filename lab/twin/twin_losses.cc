#include "lab/twin/twin_losses.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analysis/verdict/story_losses.h"

namespace mrclab::lab {
namespace {

using StepPlace = std::pair<size_t, size_t>;  // work, step

/// The step of each work that was going on; of a service all requests that waited for their first token.
std::vector<StepPlace> steps_at(const std::vector<WorkSteps>& works, FabricTime t) {
  std::vector<StepPlace> steps;
  for (size_t work = 0; work < works.size(); ++work) {
    const std::vector<FabricTime>& ends = works[work].ends;
    if (!works[work].begins.empty()) {
      for (size_t step = 0; step < ends.size(); ++step) {
        if (t >= works[work].begins[step] && t <= ends[step]) steps.emplace_back(work, step);
      }
      continue;
    }
    const auto end = std::lower_bound(ends.begin(), ends.end(), t);
    if (end == ends.end() || t < works[work].begin) continue;
    steps.emplace_back(work, static_cast<size_t>(end - ends.begin()));
  }
  return steps;
}

FaultToll toll_of(const analysis::PacketHistory& packets, const std::vector<uint32_t>& lost,
                  const std::vector<WorkSteps>& works) {
  struct OfStep {
    uint64_t packets = 0;
    std::set<uint32_t> flows;
  };
  std::map<uint32_t, uint64_t> by_flow;
  std::map<StepPlace, OfStep> by_step;
  FaultToll toll;
  for (const uint32_t index : lost) {
    const analysis::Attempt& attempt = packets.attempts()[index];
    const uint32_t flow = packets.packets()[attempt.packet].flow;
    ++toll.packets;
    ++by_flow[flow];
    for (const StepPlace& place : steps_at(works, attempt.ended)) {
      ++by_step[place].packets;
      by_step[place].flows.insert(flow);
    }
  }
  toll.queue_pairs = by_flow.size();
  for (const auto& [index, count] : by_flow) {
    const analysis::Flow& flow = packets.flows()[index];
    toll.most.push_back({flow.source, flow.destination, flow.destination_qp, count});
  }
  std::sort(toll.most.begin(), toll.most.end(), [](const auto& a, const auto& b) {
    return std::tuple(b.packets, a.from, a.to, a.qp.value) <
           std::tuple(a.packets, b.from, b.to, b.qp.value);
  });
  if (toll.most.size() > FaultToll::kMaxListed) toll.most.resize(FaultToll::kMaxListed);
  for (const auto& [place, losses] : by_step) {
    if (toll.by_step.size() == FaultToll::kMaxListed) break;
    toll.by_step.push_back({place.first, place.second, losses.packets, losses.flows.size()});
  }
  return toll;
}

}  // namespace

std::vector<FaultToll> fault_tolls(const Topology& topology, const analysis::PacketHistory& packets,
                                   const std::vector<analysis::FaultSpan>& faults,
                                   const std::vector<std::vector<size_t>>& groups,
                                   const std::vector<WorkSteps>& works) {
  std::vector<analysis::StruckWires> struck;
  for (const analysis::FaultSpan& fault : faults) struck.emplace_back(topology, fault);
  const analysis::StoryLosses losses =
      analysis::story_losses(topology, packets, topology.base_rtt, faults, struck);
  std::vector<FaultToll> tolls;
  for (const std::vector<size_t>& group : groups) {
    std::vector<uint32_t> taken;
    for (const size_t i : group) {
      taken.insert(taken.end(), losses.lost[i].begin(), losses.lost[i].end());
      taken.insert(taken.end(), losses.refused[i].begin(), losses.refused[i].end());
    }
    tolls.push_back(toll_of(packets, taken, works));
  }
  return tolls;
}

}  // namespace mrclab::lab
