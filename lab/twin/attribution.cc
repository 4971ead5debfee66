#include "lab/twin/attribution.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace mrclab::lab {
namespace {

std::optional<int64_t> known_cost(const SetCosts& costs, FaultSet set) {
  const auto found = costs.find(set);
  return found == costs.end() ? std::nullopt : found->second;
}

std::optional<int64_t> difference(std::optional<int64_t> a, std::optional<int64_t> b) {
  if (!a || !b) return std::nullopt;
  return *a - *b;
}

constexpr int64_t factorial(size_t n) {
  return n < 2 ? 1 : static_cast<int64_t>(n) * factorial(n - 1);
}

/// Shapley values in whole units. What rounding down leaves of the total goes to those that lost most by it, of equal
/// ones to the first.
std::vector<int64_t> shares(size_t faults, const SetCosts& costs) {
  using Wide = __int128;
  const Wide orders = factorial(faults);
  std::vector<int64_t> whole(faults);
  std::vector<Wide> rest(faults);
  Wide left = 0;
  for (size_t fault = 0; fault < faults; ++fault) {
    Wide sum = 0;
    for (FaultSet set = 0; set <= all_faults_of(faults); ++set) {
      if ((set & fault_bit(fault)) != 0) continue;
      const auto before = static_cast<size_t>(std::popcount(set));
      const Wide weight = Wide{factorial(before)} * factorial(faults - before - 1);
      sum += weight * (*costs.at(set | fault_bit(fault)) - *costs.at(set));
    }
    rest[fault] = (sum % orders + orders) % orders;
    whole[fault] = static_cast<int64_t>((sum - rest[fault]) / orders);
    left += rest[fault];
  }
  std::vector<size_t> by_rest(faults);
  std::iota(by_rest.begin(), by_rest.end(), size_t{0});
  std::stable_sort(by_rest.begin(), by_rest.end(),
                   [&](size_t a, size_t b) { return rest[a] > rest[b]; });
  for (size_t i = 0; i < static_cast<size_t>(left / orders); ++i) ++whole[by_rest[i]];
  return whole;
}

}  // namespace

std::vector<FaultSet> sets_to_run(size_t faults) {
  const FaultSet all = all_faults_of(faults);
  std::vector<FaultSet> sets{all, kNoFaults};
  const auto add = [&](FaultSet set) {
    if (std::find(sets.begin(), sets.end(), set) == sets.end()) sets.push_back(set);
  };
  for (size_t fault = 0; fault < faults; ++fault) add(all & ~fault_bit(fault));
  for (size_t fault = 0; fault < faults; ++fault) add(fault_bit(fault));
  if (faults <= kMaxSharingFaults) {
    for (FaultSet set = 0; set <= all; ++set) add(set);
  }
  return sets;
}

Attribution attribute(size_t faults, const SetCosts& costs) {
  const FaultSet all = all_faults_of(faults);
  Attribution result;
  result.with = known_cost(costs, all);
  result.without = known_cost(costs, kNoFaults);
  result.total = difference(result.with, result.without);
  result.interaction = result.total;
  for (size_t fault = 0; fault < faults; ++fault) {
    FaultCost cost;
    cost.marginal = difference(result.with, known_cost(costs, all & ~fault_bit(fault)));
    cost.alone = difference(known_cost(costs, fault_bit(fault)), result.without);
    cost.interaction = difference(cost.marginal, cost.alone);
    result.interaction = difference(result.interaction, cost.alone);
    result.faults.push_back(cost);
  }
  if (faults > kMaxSharingFaults) return result;
  for (FaultSet set = 0; set <= all; ++set) {
    if (!known_cost(costs, set)) return result;
  }
  const std::vector<int64_t> values = shares(faults, costs);
  for (size_t fault = 0; fault < faults; ++fault) result.faults[fault].share = values[fault];
  return result;
}

}  // namespace mrclab::lab
