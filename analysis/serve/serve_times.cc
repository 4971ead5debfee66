#include "analysis/serve/serve_times.h"

#include <algorithm>

namespace mrclab::analysis {
namespace {

void take_request_time(RequestTimes& times, size_t number, FabricTime so_far, bool open) {
  if (times.so_far.empty() || so_far > times.longest) {
    times.worst = number;
    times.longest = so_far;
  }
  times.so_far.push_back(so_far);
  times.at_worst.push_back(open ? FabricTime::never() : so_far);
  if (open) ++times.open;
}

/// Since the last token that came: what the next has taken so far is the least that the mean can still become.
FabricTime tpot_so_far(const ServedRequest& request, FabricTime end) {
  return request.output > 1 ? (end - request.first_token) / (int64_t{request.output} - 1)
                            : FabricTime::zero();
}

}  // namespace

Within within(const ServedRequest& request, const RequestObjective& objective, FabricTime end) {
  if (!request.begun()) {
    return end - request.arrival > objective.ttft ? Within::kNo : Within::kOpen;
  }
  if (request.ttft() > objective.ttft) return Within::kNo;
  if (request.served()) return request.tpot() <= objective.tpot ? Within::kYes : Within::kNo;
  return tpot_so_far(request, end) > objective.tpot ? Within::kNo : Within::kOpen;
}

ObjectiveCount objective_count(const ServeResult& serve, FabricTime end) {
  ObjectiveCount count;
  for (size_t i = 0; i < serve.requests.size(); ++i) {
    if (serve.requests[i].arrival >= end) continue;
    ++count.all;
    switch (within(serve.requests[i], *serve.objective, end)) {
      case Within::kYes: ++count.within; break;
      case Within::kOpen: ++count.open; break;
      case Within::kNo:
        if (!count.first_missed) count.first_missed = i;
        break;
    }
  }
  return count;
}

RequestTimes ttft_times(const ServeResult& serve, bool fabric, FabricTime end) {
  RequestTimes times;
  for (size_t i = 0; i < serve.requests.size(); ++i) {
    const ServedRequest& request = serve.requests[i];
    if (request.arrival >= end) continue;
    if (request.begun()) {
      take_request_time(times, i, fabric ? request.fabric_ttft : request.ttft(), false);
      continue;
    }
    // The fabric's part begins when the prompt is computed, and is not known apart once the cache is there.
    FabricTime so_far = end - request.arrival;
    if (fabric) so_far = std::min(request.cached, end) - std::min(request.computed, end);
    take_request_time(times, i, std::max(so_far, FabricTime::zero()), true);
  }
  return times;
}

RequestTimes tpot_times(const ServeResult& serve, bool fabric, FabricTime end) {
  RequestTimes times;
  for (size_t i = 0; i < serve.requests.size(); ++i) {
    const ServedRequest& request = serve.requests[i];
    if (request.arrival >= end || request.output < 2) continue;
    if (request.served()) {
      take_request_time(times, i, fabric ? request.fabric_tpot : request.tpot(), false);
    } else {
      const bool known = request.begun() && !fabric;
      take_request_time(times, i, known ? tpot_so_far(request, end) : FabricTime::zero(), true);
    }
  }
  return times;
}

}  // namespace mrclab::analysis
