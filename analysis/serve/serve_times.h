#pragma once
// The times of a service's requests, in order; which of them are within its objective.

#include <optional>
#include <vector>

#include "analysis/measure/serve_result.h"

namespace mrclab::analysis {

/// Is a request within an objective: yes, no, or not known at `end`. One that is open and late already is not.
enum class Within : uint8_t { kYes, kNo, kOpen };
Within within(const ServedRequest& request, const RequestObjective& objective, FabricTime end);

/// How many of the requests that have arrived by `end` are within the service's objective, which it has.
struct ObjectiveCount {
  uint64_t all = 0, within = 0, open = 0;
  std::optional<size_t> first_missed;  ///< the first request that is not
};
ObjectiveCount objective_count(const ServeResult& serve, FabricTime end);

/// An open one has taken the time until `end`. Requests that have not arrived by then do not count.
struct RequestTimes {
  std::vector<FabricTime> so_far;    ///< by arrival
  std::vector<FabricTime> at_worst;  ///< the same, of open ones never()
  size_t open = 0;
  size_t worst = 0;    ///< the request that took longest so far
  FabricTime longest;  ///< its time
};
RequestTimes ttft_times(const ServeResult& serve, bool fabric, FabricTime end);
RequestTimes tpot_times(const ServeResult& serve, bool fabric, FabricTime end);

}  // namespace mrclab::analysis
