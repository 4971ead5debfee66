// Costs of sets of faults to what each fault cost: sums, interactions, runs that are missing.

#include "lab/twin/attribution.h"

#include <doctest/doctest.h>

#include <numeric>

#include "fabric/base/random.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

int64_t shares_of(const Attribution& attribution) {
  return std::accumulate(
      attribution.faults.begin(), attribution.faults.end(), int64_t{0},
      [](int64_t sum, const FaultCost& cost) { return sum + cost.share.value(); });
}

}  // namespace

TEST_CASE("up to four faults take a run of every set, more of them two for each fault and two") {
  CHECK(sets_to_run(1) == std::vector<FaultSet>{1, 0});
  CHECK(sets_to_run(2) == std::vector<FaultSet>{3, 0, 2, 1});
  CHECK(sets_to_run(4).size() == 16);
  CHECK(sets_to_run(5).size() == 12);
  CHECK(sets_to_run(kMaxTwinFaults).size() == 66);
}

TEST_CASE(
    "two faults that hide each other have all of the cost alone, none marginally, and half as share") {
  const Attribution both = attribute(2, {{0, 100}, {1, 110}, {2, 110}, {3, 110}});
  CHECK(both.with == 110);
  CHECK(both.without == 100);
  CHECK(both.total == 10);
  CHECK(both.interaction == -10);
  for (const FaultCost& cost : both.faults) {
    CHECK(cost.marginal == 0);
    CHECK(cost.alone == 10);
    CHECK(cost.interaction == -10);
    CHECK(cost.share == 5);
  }
}

TEST_CASE("a fault that changes nothing has no share, and one that saves time one below zero") {
  const Attribution costs = attribute(2, {{0, 100}, {1, 93}, {2, 100}, {3, 93}});
  CHECK(costs.faults[0].marginal == -7);
  CHECK(costs.faults[0].share == -7);
  CHECK(costs.faults[1].marginal == 0);
  CHECK(costs.faults[1].share == 0);
}

TEST_CASE(
    "shares sum to what all faults cost, whatever the sets cost, and equal faults have equal ones but for 1") {
  for (uint64_t round = 0; round < 200; ++round) {
    const size_t faults = 1 + round % 4;
    SetCosts costs;
    for (FaultSet set = 0; set <= all_faults_of(faults); ++set) {
      const uint64_t bits = draw(round, NodeId{}, PortId{}, DrawPurpose::kFault, set);
      costs[set] = static_cast<int64_t>(bits >> 20) - (int64_t{1} << 43);
    }
    const Attribution result = attribute(faults, costs);
    CHECK(shares_of(result) == *result.total);
  }
  // Three equal ones of 10 together: thirds, of which the first has what is left.
  const Attribution thirds =
      attribute(3, {{0, 0}, {1, 10}, {2, 10}, {3, 10}, {4, 10}, {5, 10}, {6, 10}, {7, 10}});
  CHECK(thirds.faults[0].share == 4);
  CHECK(thirds.faults[1].share == 3);
  CHECK(thirds.faults[2].share == 3);
}

TEST_CASE("what takes a run that did not end is not known, and the rest is") {
  const Attribution costs = attribute(2, {{0, 100}, {1, 120}, {2, std::nullopt}, {3, 130}});
  CHECK(costs.total == 30);
  CHECK(costs.interaction == std::nullopt);
  CHECK(costs.faults[0].marginal == std::nullopt);  // without it, fault 1 alone
  CHECK(costs.faults[0].alone == 20);
  CHECK(costs.faults[1].marginal == 10);
  CHECK(costs.faults[1].alone == std::nullopt);
  CHECK(costs.faults[0].share == std::nullopt);
}
