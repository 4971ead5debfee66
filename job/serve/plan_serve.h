#pragma once
// Makes the graph of a service from its entry in a scenario. All of it is decided before the run (serve_schedule.h) but the
// instants:
//
//   prompt      a computation for each layer in its prefill rank, no earlier than the request arrives, one request after
//               the other
//   cache       a message for each layer, or of all together, to its decode rank as soon as it is computed
//   iteration   in each decode rank, again and again: it computes, and where experts are on several ranks, in each layer tokens go
//               to them and back (two all-to-alls, of as many tokens as the fullest rank has)
//
// Which iterations give a request its tokens shows in when its cache came: serve_measures.h.

#include <cstdint>

#include "job/plan/job_spec.h"
#include "job/serve/serve_plan.h"
#include "job/serve/serve_spec.h"

namespace mrclab::job {

/// Its ranks, name and jitter, as those of a job of one step.
JobSpec job_spec_of(const ServeSpec& spec);

/// Same spec and seed, same job. Throws InputError where the entry is none that can be run, its trace is none, or a bound is
/// passed.
PlannedService plan_serve(const ServeSpec& spec, uint64_t seed);

}  // namespace mrclab::job
