#pragma once
// The twins of a scenario: the same seed with all its faults, without each of them, with each of them alone, and with none;
// with up to four faults with every set of them. Each is simulated in a process of its own, several at once.
//
//   const TwinReport report = run_twins(scenario, {});
//   report.faults[0].cost.marginal   // what taking the first fault out saves

#include <filesystem>

#include "console/interrupt.h"
#include "lab/twin/twin_report.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {

struct TwinOptions {
  uint32_t jobs = 0;               ///< processes; 0: as many as there are processors
  std::filesystem::path out = {};  ///< where each twin leaves its run folder; empty: nowhere
  IsInterrupted interrupted = {};
};

/// The calling process must have no other threads. Throws InputError (check_twins), SystemError, Interrupted, and
/// std::runtime_error for a run whose process died.
TwinReport run_twins(const TwinCase& of, const TwinOptions& options);

}  // namespace mrclab::lab
