#include "endpoint/workload/job_plan.h"

#include <map>
#include <utility>

#include "fabric/text/input_error.h"

namespace mrclab::endpoint {

JobPlan::JobPlan(job::PlannedJob job)
    : planned(std::move(job)), program(planned.graph, planned.sites) {
  std::map<std::pair<uint32_t, uint32_t>, JobPair> found;
  for (uint32_t i = 0; i < program.graph().ops().size(); ++i) {
    const job::Op& op = program.graph().op(i);
    if (op.kind != job::OpKind::kSend) continue;
    if (op.rank == op.peer) {
      throw InputError("found a rank that sends to itself: expected a message to another rank");
    }
    if (program.is_local(i)) continue;
    JobPair& pair = found[{op.rank, op.peer}];
    pair.from = op.rank;
    pair.to = op.peer;
    pair.largest = std::max(pair.largest, Bytes{op.bytes});
    ++pair.messages;
  }
  pairs.reserve(found.size());
  for (const auto& [ranks, pair] : found) pairs.push_back(pair);
}

JobPlan::JobPlan(job::PlannedService service) : JobPlan(std::move(service.job)) {
  serve = std::move(service.plan);
}

}  // namespace mrclab::endpoint
