#pragma once
// What faults cost a job at its own size, in time, GPU-hours and money, from its twins at two scales.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "analysis/verdict/verdict.h"
#include "lab/twin/real_size.h"
#include "lab/twin/twin_report.h"

namespace mrclab::lab {

/// What the job is, beside its two scenarios.
struct RealJob {
  Probability smaller, larger;  ///< of the job's bytes and computing, in each scenario
  uint32_t gpus = 0;            ///< that wait for it; 0: not asked
  double price = 0;             ///< of a GPU-hour, in any currency; 0: not asked
};

struct RealCosts {
  RealJob job;
  std::vector<std::string> kinds;  ///< of faults
  std::vector<std::optional<RealDelay>>
      faults;                      ///< by their marginal costs; empty: not known, or it saved time
  std::optional<RealDelay> total;  ///< of all together
};

/// `smaller` and `larger` are of scenarios that differ in their scale alone, so a fault of one is the fault at the same
/// place of the other. Throws InputError where their faults are of other kinds, or bytes are what they are measured by.
RealCosts real_costs(const TwinReport& smaller, const TwinReport& larger, const RealJob& job);

/// So many GPUs, for so long.
double gpu_hours(FabricTime delay, uint32_t gpus);

/// A table with a line for each fault, in lines of at most the width.
std::string real_text(const RealCosts& costs, analysis::TableOptions options);

/// {factors, gpus, price, faults: [{number, kind, reaction_ps, work_ps, real_ps, least_ps, most_ps, fits, gpu_hours, cost}], all};
/// gpu_hours and cost are [least, real, most], null where not asked.
nlohmann::ordered_json to_json(const RealCosts& costs);

}  // namespace mrclab::lab
