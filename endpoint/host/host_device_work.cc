// The device's work: posts, completions, asynchronous events.

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "endpoint/host/host_device.h"

namespace mrclab::endpoint {

std::string_view name_of(WorkStatus status) {
  switch (status) {
    case WorkStatus::kSuccess: return "success";
    case WorkStatus::kRemoteInvalidRequest: return "remote invalid request error";
    case WorkStatus::kRetryExceeded: return "retry counter exceeded";
    case WorkStatus::kRnrRetryExceeded: return "RNR retry counter exceeded";
    case WorkStatus::kRemoteAccessError: return "remote access error";
    case WorkStatus::kRemoteOperationError: return "remote operation error";
    case WorkStatus::kFlushError: return "flushed";
  }
  return "unknown";
}

std::string_view name_of(QpState state) {
  switch (state) {
    case QpState::kReset: return "RESET";
    case QpState::kInit: return "INIT";
    case QpState::kReadyToReceive: return "RTR";
    case QpState::kReadyToSend: return "RTS";
    case QpState::kError: return "ERROR";
  }
  return "unknown";
}

std::string_view name_of(AsyncEvent::Kind kind) {
  switch (kind) {
    case AsyncEvent::Kind::kQpFatal: return "qp fatal";
    case AsyncEvent::Kind::kCqError: return "cq error";
    case AsyncEvent::Kind::kPortActive: return "port active";
    case AsyncEvent::Kind::kPortError: return "port error";
    case AsyncEvent::Kind::kEvGood: return "ev good";
    case AsyncEvent::Kind::kEvAssumedBad: return "ev assumed bad";
    case AsyncEvent::Kind::kEvDenied: return "ev denied";
  }
  return "unknown";
}

namespace {

/// The completion status for the requester's reason, for the write that caused a failure.
WorkStatus status_of(std::string_view reason) {
  if (reason == "Retry Counter Exceeded") return WorkStatus::kRetryExceeded;
  if (reason == "RNR Retry Counter Exceeded") return WorkStatus::kRnrRetryExceeded;
  if (reason == "Remote Access Error") return WorkStatus::kRemoteAccessError;
  if (reason == "Remote Invalid Request Error") return WorkStatus::kRemoteInvalidRequest;
  if (reason == kFlushed) return WorkStatus::kFlushError;
  return WorkStatus::kRemoteOperationError;
}

}  // namespace

PostResult HostDevice::post_write(Qpn qpn, const WriteRequest& request) {
  Record* record = find(qpn);
  if (record == nullptr) return PostResult::kUnknownQp;
  const bool send = request.kind == WorkKind::kSend;
  if (send && !record->is_rc()) return PostResult::kUnsupported;
  const WorkOpcode opcode = send ? WorkOpcode::kSend : WorkOpcode::kRdmaWrite;
  if (record->attributes.state == QpState::kError) {
    flush(*record, request.id, opcode);
    return PostResult::kOk;
  }
  if (record->attributes.state != QpState::kReadyToSend) return PostResult::kWrongState;
  if (request.local.empty() || request.local.size() > 0xFFFF'FFFFu) return PostResult::kBadLength;
  if (record->sends >= record->attributes.init_attributes.max_send_wr ||
      !node_.applications_.verbs_of(index_).post_write(*record->handle, request)) {
    return PostResult::kQueueFull;
  }
  ++record->sends;
  record->opcodes.push(opcode);
  node_.ring_doorbell();
  return PostResult::kOk;
}

PostResult HostDevice::post_receive(Qpn qpn, uint64_t wr_id, Memory buffer) {
  Record* record = find(qpn);
  if (record == nullptr) return PostResult::kUnknownQp;
  const QpState state = record->attributes.state;
  if (state == QpState::kReset) return PostResult::kWrongState;
  if (state == QpState::kError) {
    flush(*record, wr_id, WorkOpcode::kReceiveRdmaWithImmediate);
    return PostResult::kOk;
  }
  if (record->receives >= record->attributes.init_attributes.max_recv_wr) {
    return PostResult::kQueueFull;
  }
  if (!record->handle) {
    record->early_receives.push_back({wr_id, buffer});
  } else if (!node_.applications_.verbs_of(index_).post_receive(*record->handle, wr_id, buffer)) {
    return PostResult::kQueueFull;
  }
  ++record->receives;
  return PostResult::kOk;
}

/// A post to a queue pair in error is accepted and flushed, as in ibverbs.
void HostDevice::flush(const Record& record, uint64_t wr_id, WorkOpcode opcode) {
  const QpInitAttributes& queues = record.attributes.init_attributes;
  WorkCompletion completion;
  completion.wr_id = wr_id;
  completion.opcode = opcode;
  completion.status = WorkStatus::kFlushError;
  completion.qpn = record.qpn;
  const bool sent = opcode == WorkOpcode::kRdmaWrite || opcode == WorkOpcode::kSend;
  complete(sent ? queues.send_cq : queues.recv_cq, completion);
}

std::span<WorkCompletion> HostDevice::poll_completions(CqHandle cq, std::span<WorkCompletion> out) {
  CompletionQueue& queue = cq_at(cq);
  size_t count = 0;
  while (count < out.size() && !queue.completions.empty()) out[count++] = queue.completions.pop();
  return out.first(count);
}

std::optional<AsyncEvent> HostDevice::next_async_event() {
  if (events_.empty()) return std::nullopt;
  return events_.pop();
}

void HostDevice::report(AsyncEvent event) {
  event.at = node_.host_.now;
  event.drop_count = events_lost_;
  events_lost_ = events_.push(event) ? 0 : events_lost_ + 1;
  if (user_ != nullptr) user_->on_async_event();
}

void HostDevice::wake_at(FabricTime at) {
  at = std::max(at, node_.host_.now);
  if (at == FabricTime::never() || wakes_.contains(at)) return;
  if (wakes_.size() >= kMaxWakes) throw std::length_error("a program asks for too many alarms");
  wakes_.insert(at);
  node_.applications_.verbs_of(index_).wake_at(at);
}

void HostDevice::on_wake(Verbs&) {
  wakes_.erase(wakes_.begin(), wakes_.upper_bound(node_.host_.now));
  if (user_ != nullptr) user_->on_wake();
}

HostDevice::Record* HostDevice::record_of(QpHandle handle) {
  const ApplicationQueue* const queue = node_.queues_.look_at(handle);
  return queue != nullptr ? find(queue->number()) : nullptr;
}

void HostDevice::complete(CqHandle cq, const WorkCompletion& completion) {
  CompletionQueue& queue = cq_at(cq);
  if (queue.failed) return;
  if (queue.completions.push(completion)) {
    if (user_ != nullptr) user_->on_completion(cq);
    return;
  }
  queue.failed = true;
  AsyncEvent event;
  event.kind = AsyncEvent::Kind::kCqError;
  event.cq = cq;
  report(event);
  fail_queue_pairs_of(cq);
}

/// A completion queue that overran cannot be trusted any more, nor can its queue pairs (as in
/// ibverbs).
void HostDevice::fail_queue_pairs_of(CqHandle cq) {
  for (const auto& record : records_) {
    if (!record || !record->handle) continue;
    const QpInitAttributes& queues = record->attributes.init_attributes;
    if (queues.send_cq != cq && queues.recv_cq != cq) continue;
    node_.queues_.use(*record->handle)->fail("Completion Queue Overrun");
  }
}

void HostDevice::complete_send(QpHandle qp, uint64_t id, WorkStatus status) {
  Record* record = record_of(qp);
  if (record == nullptr) return;
  --record->sends;
  WorkCompletion completion;
  completion.wr_id = id;
  completion.opcode = record->opcodes.pop();
  completion.status = status;
  completion.qpn = record->qpn;
  complete(record->attributes.init_attributes.send_cq, completion);
}

void HostDevice::on_write_complete(Verbs&, QpHandle qp, uint64_t id) {
  complete_send(qp, id, WorkStatus::kSuccess);
}

void HostDevice::on_write_failed(Verbs&, QpHandle qp, uint64_t id, std::string_view status) {
  complete_send(qp, id, status_of(status));
}

void HostDevice::on_receive(Verbs&, QpHandle qp, const ReceiveCompletion& received) {
  Record* record = record_of(qp);
  if (record == nullptr) return;
  --record->receives;
  WorkCompletion completion;
  completion.wr_id = received.id;
  completion.opcode = received.kind == WorkKind::kSend ? WorkOpcode::kReceive
                                                       : WorkOpcode::kReceiveRdmaWithImmediate;
  completion.qpn = record->qpn;
  if (received.has_immediate) completion.immediate = received.immediate;
  completion.byte_len = received.bytes;
  complete(record->attributes.init_attributes.recv_cq, completion);
}

void HostDevice::on_receive_flushed(Verbs&, QpHandle qp, uint64_t id) {
  Record* record = record_of(qp);
  if (record == nullptr) return;
  --record->receives;
  flush(*record, id, WorkOpcode::kReceiveRdmaWithImmediate);
}

void HostDevice::on_qp_error(Verbs&, QpHandle qp, std::string_view reason) {
  Record* record = record_of(qp);
  if (record == nullptr) return;
  record->attributes.state = QpState::kError;
  AsyncEvent event;
  event.kind = AsyncEvent::Kind::kQpFatal;
  event.qpn = record->qpn;
  event.reason = reason;
  report(event);
}

void HostDevice::ev_changed(const QueuePair& qp, EntropyValue ev, EvState to) {
  if (qp.application != index_) return;
  AsyncEvent event;
  event.kind = to == EvState::kGood     ? AsyncEvent::Kind::kEvGood
               : to == EvState::kDenied ? AsyncEvent::Kind::kEvDenied
                                        : AsyncEvent::Kind::kEvAssumedBad;
  event.qpn = qp.id.local;
  event.ev = ev;
  report(event);
}

void HostDevice::power_off() {
  wakes_.clear();
  for (const auto& record : records_) {
    if (!record) continue;
    record->attributes.state = QpState::kError;
    record->handle.reset();
    record->early_receives.clear();
    record->sends = record->receives = 0;
    while (!record->opcodes.empty()) record->opcodes.pop();
  }
  if (user_ != nullptr) user_->on_power_lost();
}

void HostDevice::port_changed(PortId port, bool up) {
  AsyncEvent event;
  event.kind = up ? AsyncEvent::Kind::kPortActive : AsyncEvent::Kind::kPortError;
  event.port = port.value;
  report(event);
}

}  // namespace mrclab::endpoint
