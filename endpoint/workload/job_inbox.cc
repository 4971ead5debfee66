#include "endpoint/workload/job_inbox.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace mrclab::endpoint {

JobInbox::JobInbox(Config config) : config_(std::move(config)), queues_(config_.qps.size()) {
  assert(!config_.ranks.empty());
}

JobWork& JobInbox::receiver_of(uint32_t send) const {
  if (!config_.slots) return *config_.ranks.front();
  return *config_.ranks.at(config_.slots->at(config_.plan->program.graph().op(send).peer));
}

bool JobInbox::is_from_peer(uint32_t op) const {
  const job::OpGraph& graph = config_.plan->program.graph();
  if (op >= graph.ops().size() || graph.op(op).kind != job::OpKind::kSend) return false;
  if (config_.slots) return receiver_of(op).comes_from(op, config_.from);
  return graph.op(op).rank == config_.from && graph.op(op).peer == config_.to;
}

void JobInbox::on_receive_immediate(Verbs& verbs, QpHandle qp, uint32_t immediate) {
  const auto found = std::find(config_.qps.begin(), config_.qps.end(), qp);
  if (found == config_.qps.end() || !is_from_peer(immediate)) return;
  const auto number = static_cast<uint32_t>(found - config_.qps.begin());
  Queue& queue = queues_[number];
  if (std::exchange(queue.op, immediate) != immediate) queue.part = 0;
  const uint64_t bytes = config_.plan->program.graph().op(immediate).bytes;
  const ConstMemory part = config_.memory.subspan(config_.layout.offset(number, queue.arrived++),
                                                  config_.layout.part_bytes(bytes, queue.part));
  verbs.report_verified(
      part.size(),
      count_mismatched_bytes(part, queue.part * (config_.layout.slot_bytes() / sizeof(uint32_t)),
                             job_ramp(config_.seed, immediate)));
  if (++queue.part < config_.layout.parts_of(bytes)) return;
  queue.op = job::kNoOp;
  receiver_of(immediate).take_arrived(immediate);
}

void JobInbox::on_qp_error(Verbs& verbs, QpHandle, std::string_view reason) {
  for (JobWork* rank : config_.ranks) {
    rank->die(verbs.now(), "queue pair to " + config_.from_host + ": " + std::string(reason));
  }
}

}  // namespace mrclab::endpoint
