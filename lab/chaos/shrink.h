#pragma once
// The verb `shrink`: a smallest scenario that still fails in the same way. Fewer faults and targets
// first (delta debugging), then a simpler workload and transport, a smaller fabric, milder faults,
// a shorter run, again and again until nothing helps any more or the budget is spent. Every step is
// a run of the simulator in a process of its own, so that a failed assertion can be shrunk too; a
// run that is inconclusive, or fails in another way only, counts as one that does not fail.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "console/interrupt.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {

/// How a scenario fails: the name of the first check that does, "crash", or empty if none.
std::string failing_check(const Scenario& scenario);

struct ShrunkScenario {
  Scenario scenario;         ///< expects nothing but what fails
  std::string check;         ///< which is this
  uint32_t runs = 0;         ///< that it took
  std::string comment;       ///< what was removed: lines beginning with '#'
  bool interrupted = false;  ///< by the user: it may not be a smallest one
};

/// Called after each run.
using ShrinkProgress = std::function<void(uint32_t runs, const Scenario& smallest)>;

/// Throws InputError if the scenario does not fail, Interrupted before that is known.
ShrunkScenario shrink(const Scenario& scenario, uint32_t budget,
                      const ShrinkProgress& progress = {}, const IsInterrupted& interrupted = {});

struct ShrinkOptions {
  std::string target;  ///< a run folder, a scenario, or a fabric with the seed of its chaos
  std::optional<uint64_t> seed;
  std::optional<std::filesystem::path> out;  ///< a file, or a folder; default: runs
  uint32_t budget = 300;                     ///< runs
};
int shrink_command(const ShrinkOptions& options);

}  // namespace mrclab::lab
