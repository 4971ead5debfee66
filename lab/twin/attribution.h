#pragma once
// What each of several faults cost, by runs with some of them. C(S) is the cost of the run with the faults of the set
// S: its time, or the bytes that it did not deliver; F are all faults.
//
//   marginal of f      C(F) - C(F without f): what f cost as things were
//   alone of f         C({f}) - C(none): what it costs where nothing else is broken
//   interaction of f   marginal - alone: below zero where other faults hide f, above where they make it worse
//   share of f         its Shapley value (Shapley, "A value for n-person games", 1953): what f adds when the faults are
//                      added one by one, in the mean over all orders. Shares sum to C(F) - C(none) exactly.

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace mrclab::lab {

/// Bit i: fault i of the scenario's list is among them.
using FaultSet = uint64_t;
inline constexpr FaultSet kNoFaults = 0;
inline constexpr FaultSet fault_bit(size_t fault) { return FaultSet{1} << fault; }
inline constexpr FaultSet all_faults_of(size_t faults) { return fault_bit(faults) - 1; }

/// Our choice: every fault takes two runs.
inline constexpr size_t kMaxTwinFaults = 32;
/// With up to so many faults every set is run, which shares take: 16 runs.
inline constexpr size_t kMaxSharingFaults = 4;

/// The sets that are run for so many faults, 1 to kMaxTwinFaults: all faults first, then none, then those without
/// one and with one alone, then the others.
std::vector<FaultSet> sets_to_run(size_t faults);

/// Costs of sets, in picoseconds or bytes; empty: not known, as the run had not ended.
using SetCosts = std::map<FaultSet, std::optional<int64_t>>;

/// What one fault cost, in the unit of the costs. Empty: a run that it takes is missing or did not end.
struct FaultCost {
  std::optional<int64_t> marginal, alone, interaction, share;
};

struct Attribution {
  std::optional<int64_t> with, without;  ///< C(F), C(none)
  std::optional<int64_t> total;          ///< the one minus the other
  std::optional<int64_t> interaction;    ///< total minus what the faults cost alone
  std::vector<FaultCost> faults;
};
Attribution attribute(size_t faults, const SetCosts& costs);

}  // namespace mrclab::lab
