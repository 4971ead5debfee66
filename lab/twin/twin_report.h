#pragma once
// The twins of a scenario together: what each fault cost, and whether that can be said. Pure.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/twin/attribution.h"
#include "lab/twin/hidden.h"
#include "lab/twin/twin_measure.h"
#include "lab/twin/twin_set.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {

/// What a run is measured by: when its workload had ended; of one that the run's end cuts short, the bytes delivered.
/// Costs are picoseconds, or bytes that were not delivered.
enum class TwinUnit : uint8_t { kTime, kBytes };

/// A step counts as hit by a fault that changed its length by at least this share: 0.5 % (our choice: what a fault did
/// moves packets of all later steps by some tens of nanoseconds).
inline constexpr int64_t kHitOneIn = 200;
/// A fault is hidden that hit no step and changed the whole by less than this share: 0.1 % (our choice).
inline constexpr int64_t kHiddenOneIn = 1000;

/// A step with what a fault changed of its length, all others being as they were.
struct StepHit {
  size_t work = 0, step = 0;  ///< as in WorkSteps
  FabricTime without;         ///< its length without the fault
  FabricTime cost;            ///< below zero: it was shorter with the fault
  uint64_t packets = 0, answers = 0, queue_pairs = 0;  ///< that the fault took meanwhile
};

struct TwinFault {
  std::string description;  ///< "link_down p1.t0-0:u0 at 100us: for 40us"
  std::string kind;
  FaultCost cost;
  FaultToll toll;
  size_t steps_hit = 0;
  std::vector<StepHit> hits;  ///< the first kMaxHits of them, in the order of works and steps
  static constexpr size_t kMaxHits = 64;
  std::optional<Hidden> hidden;  ///< of one that hit no step
};

/// Of what differs (twin_axis.h).
inline constexpr std::string_view kTransportAxis = "transport", kRoutingAxis = "routing",
                                  kPlanesAxis = "planes", kOpticsAxis = "optics",
                                  kRanksAxis = "ranks";

struct TwinReport {
  std::string scenario;
  /// What differs from the scenario ("transport", "planes") and how ("roce", "4"); both empty: nothing.
  std::string axis = {}, value = {};
  uint64_t seed = 0;
  FabricTime end;
  TwinUnit unit = TwinUnit::kTime;
  Attribution total;
  std::vector<TwinFault> faults;
  std::vector<TwinMeasure> runs;  ///< in the order of sets_to_run()
  std::string inconclusive;       ///< why nothing can be said; empty: it can
};

/// `runs`: of every set of sets_to_run(), in any order. Two runs are twins if their histories are equal up to the first
/// instant at which their faults differ; otherwise something else made a difference, and the report is inconclusive.
TwinReport report_of(const TwinCase& of, std::vector<TwinMeasure> runs);

/// Is `cost`, which may be below zero, less than that share of `whole`?
constexpr bool is_negligible(int64_t cost, int64_t whole, int64_t one_in) {
  return cost == 0 || (cost < 0 ? -cost : cost) < whole / one_in;
}

}  // namespace mrclab::lab
