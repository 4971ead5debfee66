#pragma once
// What of a job's operations belongs to which request, for whoever measures a run of it.

#include <cstdint>
#include <optional>
#include <vector>

#include "fabric/base/units.h"
#include "job/plan/planned_job.h"
#include "job/serve/requests.h"

namespace mrclab::job {

/// A request, by operations of PlannedJob::graph.
struct PlannedRequest {
  Request request;
  uint32_t prefill_rank = 0, decode_rank = 0;
  uint32_t first_compute = 0, last_compute = 0;  ///< of its prompt
  std::vector<uint32_t> sends, receives;         ///< of its cache, in the order of layers
  uint64_t cache_bytes = 0;                      ///< of all of them
};

/// An iteration of one decode rank: a token for each request of its batch.
struct PlannedIteration {
  uint32_t first = 0,
           end = 0;  ///< its operations in the rank, which follow each other in the graph
};

struct ServePlan {
  std::vector<PlannedRequest> requests;                   ///< by arrival
  uint32_t prefill_ranks = 0;                             ///< rank 0 and so on; decode ranks follow
  std::vector<std::vector<PlannedIteration>> iterations;  ///< by decode rank, from 0
  uint32_t batch = 1;
  std::optional<ServeObjective> objective;  ///< as a run has it, compressed
  double compression = 1;                   ///< the service takes so many times as long
};

/// The job and what it serves.
struct PlannedService {
  PlannedJob job;
  ServePlan plan;
};

}  // namespace mrclab::job
