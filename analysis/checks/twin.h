#pragma once
// What a run would have delivered without its faults. The judge does not simulate: `lab` does, and
// only when the judge asks, because a run with a usable baseline of its own needs no twin.

#include <functional>

#include "analysis/measure/job_result.h"
#include "analysis/measure/measurements.h"

namespace mrclab::analysis {

struct TwinRun {
  GoodputMeter goodput;
  std::optional<FabricTime>
      completed;  ///< when all that was posted had arrived; empty: not by the end
};

/// Returns what the same scenario and seed does without faults. An empty function: the scenario cannot be simulated.
using Twin = std::function<TwinRun()>;

/// Simulates one job of the run, given by its place among the jobs, without all other workloads, and returns its result. An
/// empty function: the scenario cannot be simulated.
using AloneRun = std::function<JobResult(size_t job)>;

}  // namespace mrclab::analysis
