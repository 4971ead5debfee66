#include "endpoint/workload/ping_pong.h"

#include "endpoint/workload/stream.h"
#include "fabric/base/random.h"

namespace mrclab::endpoint {

Ramp PingPong::contents(bool ping, uint64_t number) const {
  return message_ramp(mix64(config_.seed ^ (ping ? 1u : 2u)), number);
}

void PingPong::start(Verbs& verbs) { post_if_due(verbs); }

/// The pinging end may post when all its pings were answered, the other end when a ping was not. A
/// slot is free when the write before the last is acknowledged.
void PingPong::post_if_due(Verbs& verbs) {
  if (dead_ || posted_ - acked_ >= kSlots) return;
  if (config_.pings) {
    if (posted_ != received_ || verbs.now() >= config_.end) return;
    if (config_.count != 0 && posted_ == config_.count) return;
  } else if (posted_ == received_) {
    return;
  }
  const Memory local = config_.memory.subspan(slot(posted_), config_.size.value);
  fill_ramp(local, 0, contents(config_.pings, posted_));
  WriteRequest request;
  request.id = posted_;
  request.local = local;
  request.remote_va = config_.remote_va + slot(posted_);
  request.rkey = config_.remote_rkey;
  request.immediate = static_cast<uint32_t>(posted_);
  if (!verbs.post_write(config_.qp, request)) {
    dead_ = true;
    return;
  }
  posted_at_ = verbs.now();
  ++posted_;
}

void PingPong::on_write_complete(Verbs& verbs, QpHandle, uint64_t) {
  ++acked_;
  post_if_due(verbs);
}

void PingPong::on_receive_immediate(Verbs& verbs, QpHandle qp, uint32_t) {
  if (dead_ || qp != config_.qp) return;
  const ConstMemory message = config_.inbox.subspan(slot(received_), config_.size.value);
  verbs.report_verified(message.size(),
                        count_mismatched_bytes(message, 0, contents(!config_.pings, received_)));
  ++received_;
  if (config_.pings) config_.report.record_piece(posted_at_, verbs.now());
  post_if_due(verbs);
}

}  // namespace mrclab::endpoint
