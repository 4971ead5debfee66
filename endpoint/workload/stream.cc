#include "endpoint/workload/stream.h"

#include <algorithm>

#include "fabric/base/random.h"

namespace mrclab::endpoint {

Ramp message_ramp(uint64_t seed, uint64_t number) {
  const uint64_t random = mix64(mix64(seed) ^ number);
  return {static_cast<uint32_t>(random), static_cast<uint32_t>(random >> 32) | 1};
}

/// A slot may be reused when the whole batch of its last message is acknowledged: only then has
/// its receiver got the completion, and it verifies at that instant.
bool StreamSender::slot_is_free() const {
  if (config_.depth != 0 && posted_ - completed_ >= config_.depth) return false;
  const uint64_t batch = config_.layout.batch();
  return posted_ - completed_ / batch * batch < config_.layout.slots();
}

void StreamSender::start(Verbs& verbs) {
  if (config_.pacer) config_.pacer->join(*this, verbs);
  pump(verbs);
}

bool StreamSender::has_room() const {
  return !dead_ && (config_.count == 0 || posted_ < config_.count) && slot_is_free();
}

void StreamSender::pump(Verbs& verbs) {
  if (config_.pacer) return config_.pacer->pump(verbs);
  while (has_room()) {
    const FabricTime when = times_.due();
    if (verbs.now() >= config_.end || when >= config_.end) return;
    if (when > verbs.now()) {
      if (!sleeping_) verbs.wake_at(when);
      sleeping_ = true;
      return;
    }
    if (!post_next(verbs)) return;  // queue full: a completion comes
    times_.pass();
  }
}

bool StreamSender::post_next(Verbs& verbs) {
  const uint64_t number = posted_;
  const Memory local =
      config_.memory.subspan(config_.layout.offset(number), config_.layout.message().value);
  const Ramp contents = message_ramp(config_.seed, number);
  if (config_.source != nullptr) {
    config_.source->put(number, contents);
  } else {
    fill_ramp(local, 0, contents);
  }
  WriteRequest request;
  request.id = number;
  request.local = local;
  request.remote_va = config_.remote_va + config_.layout.offset(number);
  request.rkey = config_.remote_rkey;
  const bool batch_ends = (number + 1) % config_.layout.batch() == 0;
  if (batch_ends || number + 1 == config_.count) {
    request.immediate = static_cast<uint32_t>(number + 1);
  }
  if (!verbs.post_write(config_.qp, request)) return false;
  posted_at_[number % config_.layout.slots()] = verbs.now();
  ++posted_;
  return true;
}

void StreamSender::on_write_complete(Verbs& verbs, QpHandle, uint64_t number) {
  config_.report.record_piece(posted_at_[number % config_.layout.slots()], verbs.now());
  ++completed_;
  pump(verbs);
}

void StreamSender::on_wake(Verbs& verbs) {
  if (config_.pacer) return config_.pacer->on_wake(verbs);
  sleeping_ = false;
  pump(verbs);
}

void StreamReceiver::on_receive_immediate(Verbs& verbs, QpHandle qp, uint32_t immediate) {
  if (qp != config_.qp) return;
  const uint32_t fresh = immediate - static_cast<uint32_t>(verified_);
  // More messages than the ring holds cannot have arrived unread.
  for (uint32_t i = 0; i < std::min(fresh, config_.layout.slots()); ++i, ++verified_) {
    verbs.report_verified(config_.layout.message().value, count_mismatched_bytes());
  }
}

uint64_t StreamReceiver::count_mismatched_bytes() const {
  const Ramp expected = message_ramp(config_.seed, verified_);
  if (config_.inbox != nullptr) return config_.inbox->count_mismatched_bytes(verified_, expected);
  const ConstMemory message =
      config_.memory.subspan(config_.layout.offset(verified_), config_.layout.message().value);
  return endpoint::count_mismatched_bytes(message, 0, expected);
}

}  // namespace mrclab::endpoint
