#pragma once
// Jobs of a run as the judge takes them: their ranks' times, measured (job/measure/job_measures.h) and beside the roofline.

#include <vector>

#include "analysis/measure/job_result.h"
#include "endpoint/base/job_report.h"
#include "scenario/spec/scenario_value.h"

namespace mrclab::lab {

/// An element for each job of the scenario, in the order of its workload. Their roofline is ideal_network()
/// (measured_jobs.h).
std::vector<analysis::JobResult> job_results(const Scenario& scenario,
                                             const std::vector<endpoint::JobReport>& reports);

}  // namespace mrclab::lab
