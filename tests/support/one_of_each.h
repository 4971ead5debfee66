#pragma once
// An expectation of every kind, for tests that judge runs with little or no evidence.

#include <vector>

#include "analysis/expect/expectation.h"

namespace mrclab::test {

/// Bundles (safety, liveness) are left out, because they stand for others of the list.
inline std::vector<analysis::Expectation> one_of_each() {
  using namespace analysis;
  const FabricTime us10 = FabricTime::from_us(10), never = FabricTime::never();
  ExpectLosses losses;
  losses.at_most = 0;
  return {ExpectNoQpError{},
          ExpectMemoryIntact{},
          ExpectHealed{},
          ExpectGoodput{{}, never, {}, GoodputReference::kLineRate, Probability{500'000'000}},
          losses,
          ExpectTrims{{0, 0}},
          ExpectRetransmissions{{0, 0}},
          ExpectShare{"p0/*", {}, Probability{500'000'000}},
          ExpectPortShare{"p0.t0-0:u0", "p0.t0-0:u*", Probability{500'000'000}},
          ExpectPathUnused{"p0/u0", {}},
          ExpectCounter{"nacks", 0, 0},
          ExpectDetect{us10},
          ExpectRecover{us10},
          ExpectLeave{us10},
          ExpectQpError{"x"},
          ExpectPlacedOnce{},
          ExpectNoSilentLoss{},
          ExpectInOrder{},
          ExpectNoQpErrorWhileAPathLives{},
          ExpectAccounted{},
          ExpectSteady{},
          ExpectGoodputBack{},
          ExpectEvsGood{},
          ExpectQueuesEmpty{},
          ExpectGap{us10, Probability{100'000'000}, GoodputReference::kLineRate},
          ExpectSamples{{}, never, us10, Probability{900'000'000}},
          ExpectLatency{"h0", "h1", {}, us10},
          ExpectFairness{},
          ExpectLossesPerQp{},
          ExpectAffectedQps{},
          ExpectCompletionTime{},
          ExpectLossless{},
          ExpectPause{{}, Probability{10'000'000}, {}},
          ExpectDeadlockFree{},
          ExpectMessageTime{us10},
          ExpectMapperNames{"link *", us10},
          ExpectIsolated{},
          ExpectDroppedFor{"not_authorised", "h0", 1},
          ExpectDatagrams{"h0", 0, 0},
          ExpectOrchestratorNames{"p0*", us10},
          ExpectDenied{"link *", us10},
          ExpectAllowedAgain{"link *", us10},
          ExpectStepTime{us10},
          ExpectExposed{Probability{100'000'000}},
          ExpectStraggler{Probability{50'000'000}},
          ExpectStepsDone{StepNumber{1}},
          ExpectJobAlive{},
          ExpectJobDies{"x"},
          ExpectJobGoesOn{us10},
          ExpectInterference{Ratio{1'200'000'000}},
          ExpectTtft{{}, us10},
          ExpectTpot{{}, us10},
          ExpectSlo{Probability{900'000'000}}};
}

}  // namespace mrclab::test
