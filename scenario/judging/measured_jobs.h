#pragma once
// The jobs of a run, measured (job/measure/), for tables, files and viewers.

#include <vector>

#include "analysis/trace/run_trace.h"
#include "endpoint/base/job_report.h"
#include "job/measure/job_measures.h"
#include "scenario/judging/job_outcome.h"
#include "scenario/spec/scenario_value.h"

namespace mrclab::lab {

/// The roofline of a job on this fabric, which no run can beat: the ports of a host together carry payload alone, and every
/// message takes the shortest way that there is between two hosts, one switch and two links.
job::IdealNetwork ideal_network(const Topology& topology);

/// With the ideal times of that network.
job::JobMeasures measured(const JobOutcome& outcome, const Topology& topology);

/// What a viewer shows of all jobs of a run; of each job `most` at most, the earliest.
inline constexpr size_t kMaxBarsOfJob = 200'000;
std::vector<analysis::TraceBar> job_bars(const std::vector<JobOutcome>& outcomes,
                                         size_t most = kMaxBarsOfJob);

}  // namespace mrclab::lab
