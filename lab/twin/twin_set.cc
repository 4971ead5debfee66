#include "lab/twin/twin_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

#include "fabric/text/counted_noun.h"
#include "faults/fault_entries.h"
#include "faults/schedule.h"
#include "scenario/simulation/work_end.h"

namespace mrclab::lab {
namespace {

/// In the order of the scenario.
std::vector<faults::Fault> faults_of(const TwinCase& of, FaultSet set) {
  std::vector<size_t> places;
  for (size_t i = 0; i < of.faults(); ++i) {
    if ((set & fault_bit(i)) == 0) continue;
    places.insert(places.end(), of.groups[i].begin(), of.groups[i].end());
  }
  std::sort(places.begin(), places.end());
  std::vector<faults::Fault> chosen;
  for (const size_t place : places) chosen.push_back(of.scenario.faults[place]);
  return chosen;
}

FaultGroups each_by_itself(size_t faults) {
  FaultGroups groups;
  for (size_t i = 0; i < faults; ++i) groups.push_back({i});
  return groups;
}

}  // namespace

TwinCase::TwinCase(const Scenario& of) : scenario(of), groups(each_by_itself(of.faults.size())) {}

FaultGroups groups_of_entries(const Scenario& scenario, const YamlValue& list) {
  NameResolver names(scenario.topology, scenario.seed);
  std::vector<faults::PlaceInFaults> places;
  try {
    places =
        faults::places_in_faults(list.with_rtt(scenario.topology.base_rtt), names, scenario.end);
  } catch (const InputError&) {
    places.clear();  // it has variables, which the scenario has put values in place of
  }
  if (places.size() != scenario.faults.size()) return each_by_itself(scenario.faults.size());
  std::map<faults::PlaceInFaults, std::vector<size_t>> by_place;
  for (size_t i = 0; i < places.size(); ++i) by_place[places[i]].push_back(i);
  FaultGroups groups;
  for (auto& [place, faults] : by_place) groups.push_back(std::move(faults));
  return groups;
}

std::string describe(const TwinCase& of, size_t fault) {
  const std::vector<size_t>& places = of.groups[fault];
  const std::vector<faults::Fault>& faults = of.scenario.faults;
  const std::string first = faults::describe(faults[places.front()], of.scenario.topology);
  if (places.size() == 1) return first;
  return fmt::format("{}, {} times, the last at {}", first, places.size(),
                     to_string(faults[places.back()].at));
}

void check_twins(const TwinCase& of) {
  const Scenario& scenario = of.scenario;
  const std::string found = scenario.name + ": found ";
  const size_t faults = of.faults();
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

Scenario with_faults(const TwinCase& of, FaultSet set) {
  Scenario twin = with_open_end(of.scenario);
  twin.faults = faults_of(of, set);
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

std::vector<FabricTime> cuts_of(const TwinCase& of, const std::vector<FaultSet>& sets) {
  std::vector<FabricTime> cuts;
  for (const FaultSet set : sets) {
    const auto schedule = faults::compile(faults_of(of, set), of.scenario.topology);
    cuts.push_back(first_difference(of.scenario.schedule, schedule));
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  if (!cuts.empty() && cuts.back() == FabricTime::never()) cuts.pop_back();
  return cuts;
}

}  // namespace mrclab::lab
