#pragma once
// Makes a scenario from a seed: workload, transport and faults (faults/generator.h), on a fabric or
// in place of those of a given scenario. The result is a scenario like any other: it has a file,
// runs in both worlds, can be replayed and shrunk.
//
//   0 ---- steady ---- | ---- faults, all healed by its end ---- | ---- liveness ---- end
//        kSteadyRtts          kFaultRttsMin to kFaultRttsMax            kAfterHealRtts
//
// REPS, whose cache is frozen for longer than that, has so much longer to come back.
//
// A job begins with the run, ends about where the faults do on a network without them, and has kJobPatience times as long.
//
// Where switches route by themselves nothing is sent until they have (fabric/topology/fare.h: fare_ready), and
// liveness has as long again for the sessions that faults ended.
//
// Safety is judged over all of it, liveness over the last part, against the steady part; where that
// was not steady after all, against the same run without faults (scenario/judging/twin_run.h).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fabric/base/units.h"
#include "fabric/topology/fabric_shape.h"
#include "faults/generator.h"
#include "lab/chaos/chaos_transport.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {

/// The fabric or scenario that chaos runs on.
struct ChaosBase {
  std::string word;  ///< as on the command line: repeats it
  FabricShape fabric;
  std::optional<Scenario> scenario;  ///< workload and transport are its own, not drawn
  /// Of a scenario with programs: the first and the last arrival without faults. Programs compute for a second before
  /// they send, so faults begin in between. Empty: not measured, they begin after kSteadyRtts.
  std::optional<std::pair<FabricTime, FabricTime>> traffic = {};
  bool jobs = false;  ///< each seed has a job (chaos_job.h)
};
/// The name or path of a fabric or of a scenario; of a fabric also with "+job" behind it. Throws InputError.
ChaosBase load_chaos_base(const std::string& word);

struct ChaosScenario {
  Scenario scenario;
  std::vector<faults::FaultKind> kinds;  ///< switched on
  bool survivable = true;  ///< else only what must hold all the same is expected of it
  ChaosTransport transport = ChaosTransport::kMrc;  ///< of a given scenario: by its workload
};

/// A pure function of its arguments.
ChaosScenario chaos_scenario(const ChaosBase& base, uint64_t seed);

inline constexpr int64_t kSteadyRtts = 40;  ///< half to get going, half as baseline
inline constexpr int64_t kFaultRttsMin = 8;
inline constexpr int64_t kFaultRttsMax = 32;
inline constexpr int64_t kAfterHealRtts = 70;
/// The last part of kAfterHealRtts: what is measured must end before the end.
inline constexpr int64_t kSlackRtts = 10;

/// So many times its ideal time a job has to end (our choice): other traffic may take half of its share, and a
/// network's headers, turns and acknowledgements as much again.
inline constexpr int64_t kJobPatience = 4;

/// The share of the goodput before that must be back. Closed loops that run against each other settle
/// into one of several phases, as the bursts of one meet the acknowledgements of the other or miss
/// them: an acknowledgement overtakes data, but not the frame that a port has begun. (Of pair's loops
/// of 8 x 13,702 and 15 x 7,347 bytes it takes 4.14 us on its way in one phase and 4.9 in the other.) A
/// delay of 80 ns decides which phase, and without any fault, loss, mark or smaller window the goodput
/// of two phases differs by up to 7 %.
inline constexpr Probability kBack{950'000'000}, kBackOfLoops{900'000'000};
/// A rate that DCQCN has cut comes back in steps, each of which takes a timer: only that something goes again can be
/// asked for (our choice).
inline constexpr Probability kBackOfLimited{50'000'000};

}  // namespace mrclab::lab
