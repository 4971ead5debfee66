#pragma once
// Who serves whom, decided before the run: requests go to the rank that has least to do by the times that the entry states, as
// a router sees them. What a run's fabric does to them changes when their tokens come, not where.
//
//   prefill   a rank computes prompts one after the other, in the order of their arrival
//   decode    a rank computes iterations one after the other, each a token for all requests of its batch; a request joins the
//             first iteration that begins when its cache is there and the batch has room (continuous batching: Orca, OSDI 22)
//
// Ranks that share experts have their iterations together, also one that has no request. As an all-to-all waits for all,
// so many are planned as are needed without a fault, and `spare` more before a pause: who comes later than planned joins one of
// these.

#include <cstdint>
#include <vector>

#include "job/serve/requests.h"
#include "job/serve/serve_spec.h"

namespace mrclab::job {

/// Of all decode ranks together.
inline constexpr uint32_t kMaxIterations = 100'000;

struct ServedBy {
  uint32_t prefill = 0, decode = 0;  ///< places in their pools
};

/// An iteration of ranks that have theirs together.
struct ScheduledIteration {
  FabricTime not_before;     ///< zero: as soon as the one before has ended
  uint32_t most_tokens = 1;  ///< in the batch of the rank that has most; at least 1
};

struct ServeSchedule {
  std::vector<ServedBy> served_by;  ///< by request
  /// By group of decode ranks that have iterations together: spec.decode.ep of them, in the order of the pool.
  std::vector<std::vector<ScheduledIteration>> iterations;
};

/// Throws InputError where more than kMaxIterations are needed.
ServeSchedule serve_schedule(const ServeSpec& spec, const std::vector<Request>& requests);

}  // namespace mrclab::job
