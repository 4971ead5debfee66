#include "lab/twin/twin_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "fabric/text/counted_noun.h"
#include "faults/schedule.h"

namespace mrclab::lab {
namespace {

std::vector<faults::Fault> faults_of(const Scenario& scenario, FaultSet set) {
  std::vector<faults::Fault> chosen;
  for (size_t i = 0; i < scenario.faults.size(); ++i) {
    if ((set & fault_bit(i)) != 0) chosen.push_back(scenario.faults[i]);
  }
  return chosen;
}

}  // namespace

void check_twins(const Scenario& scenario) {
  const std::string found = scenario.name + ": found ";
  const size_t faults = scenario.faults.size();
  if (faults == 0) throw InputError(found + "no faults: expected some, whose cost is in question");
  if (faults > kMaxTwinFaults) {
    throw InputError(fmt::format("{}{}: expected at most {}, each of which takes two runs", found,
                                 counted_noun(faults, "fault"), kMaxTwinFaults));
  }
  if (!scenario.programs.empty()) {
    throw InputError(found + "\"exec\": expected a workload that can be run again and again");
  }
  if (scenario.end == FabricTime::never()) {
    throw InputError(found + "\"end: never\": expected an instant");
  }
}

Scenario with_faults(const Scenario& scenario, FaultSet set) {
  Scenario twin = scenario;
  twin.faults = faults_of(scenario, set);
  twin.schedule = faults::compile(twin.faults, twin.topology);
  twin.expect.clear();
  twin.check_programs.clear();
  twin.contrasts.clear();
  twin.fails_without.clear();
  return twin;
}

std::string twin_name(FaultSet set, size_t faults) {
  const FaultSet all = all_faults_of(faults);
  if (set == all) return "all";
  if (set == kNoFaults) return "none";
  const bool without = std::popcount(all & ~set) == 1 && std::popcount(set) > 1;
  const FaultSet named = without ? all & ~set : set;
  std::string name = without ? "without" : "only";
  for (size_t i = 0; i < faults; ++i) {
    if ((named & fault_bit(i)) != 0) name += "-" + std::to_string(i + 1);
  }
  return name;
}

FabricTime first_difference(std::span<const ScheduledEffect> a,
                            std::span<const ScheduledEffect> b) {
  const auto same = [](const ScheduledEffect& x, const ScheduledEffect& y) {
    return x.at == y.at && x.effect == y.effect;
  };
  const auto [in_a, in_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end(), same);
  FabricTime first = FabricTime::never();
  if (in_a != a.end()) first = std::min(first, in_a->at);
  if (in_b != b.end()) first = std::min(first, in_b->at);
  return first;
}

std::vector<FabricTime> cuts_of(const Scenario& scenario, const std::vector<FaultSet>& sets) {
  std::vector<FabricTime> cuts;
  for (const FaultSet set : sets) {
    const auto schedule = faults::compile(faults_of(scenario, set), scenario.topology);
    cuts.push_back(first_difference(scenario.schedule, schedule));
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  if (!cuts.empty() && cuts.back() == FabricTime::never()) cuts.pop_back();
  return cuts;
}

}  // namespace mrclab::lab
