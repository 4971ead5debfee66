#include "job/run/job_program.h"

#include <cassert>
#include <utility>

#include "job/graph/graph_check.h"

namespace mrclab::job {

JobProgram::JobProgram(const OpGraph& job, RankSites sites)
    : messages_(message_graph(job)),
      sites_(std::move(sites)),
      partner_(message_partners(graph())),
      first_(graph().ops().size() + 1),
      first_op_(graph().ranks() + 1),
      ops_(graph().ops().size()),
      place_(graph().ops().size()) {
  for (const Op& op : graph().ops()) {
    ++first_op_[op.rank + 1];
    for (const Dependency& dependency : graph().dependencies(op)) ++first_[dependency.op + 1];
  }
  for (size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  for (size_t i = 1; i < first_op_.size(); ++i) first_op_[i] += first_op_[i - 1];
  dependents_.resize(first_.back());
  std::vector<uint32_t> next(first_.begin(), first_.end() - 1);
  std::vector<uint32_t> next_op(first_op_.begin(), first_op_.end() - 1);
  for (uint32_t i = 0; i < graph().ops().size(); ++i) {
    const Op& op = graph().op(i);
    place_[i] = next_op[op.rank] - first_op_[op.rank];
    ops_[next_op[op.rank]++] = i;
    for (const Dependency& dependency : graph().dependencies(op)) {
      assert(graph().op(dependency.op).rank == op.rank);
      dependents_[next[dependency.op]++] = {i, dependency.on_start};
    }
  }
}

}  // namespace mrclab::job
