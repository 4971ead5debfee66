// The device's work: posts and completions.

#include <algorithm>
#include <utility>

#include "endpoint/host/host_device.h"

namespace mrclab::endpoint {
namespace {

/// The completion status for the transport's reason, for the work that caused a failure.
WorkStatus status_of(std::string_view reason) {
  if (reason == "Retry Counter Exceeded") return WorkStatus::kRetryExceeded;
  if (reason == "RNR Retry Counter Exceeded") return WorkStatus::kRnrRetryExceeded;
  if (reason == "Remote Access Error") return WorkStatus::kRemoteAccessError;
  if (reason == "Remote Invalid Request Error") return WorkStatus::kRemoteInvalidRequest;
  if (reason == kFlushed) return WorkStatus::kFlushError;
  if (reason == kTooLong) return WorkStatus::kLocalLength;
  if (reason == kProtected) return WorkStatus::kLocalProtection;
  if (reason == kNoAccess) return WorkStatus::kLocalAccess;
  return WorkStatus::kRemoteOperationError;
}

WorkOpcode opcode_of(WorkRequest::Opcode opcode) {
  switch (opcode) {
    case WorkRequest::Opcode::kWrite: return WorkOpcode::kRdmaWrite;
    case WorkRequest::Opcode::kSend: return WorkOpcode::kSend;
    case WorkRequest::Opcode::kRead: return WorkOpcode::kRdmaRead;
    case WorkRequest::Opcode::kFetchAdd: return WorkOpcode::kFetchAdd;
    case WorkRequest::Opcode::kCompareSwap: return WorkOpcode::kCompareSwap;
  }
  return WorkOpcode::kRdmaWrite;
}

WorkKind kind_of(WorkRequest::Opcode opcode) {
  switch (opcode) {
    case WorkRequest::Opcode::kWrite: return WorkKind::kWrite;
    case WorkRequest::Opcode::kSend: return WorkKind::kSend;
    case WorkRequest::Opcode::kRead: return WorkKind::kRead;
    case WorkRequest::Opcode::kFetchAdd: return WorkKind::kFetchAdd;
    case WorkRequest::Opcode::kCompareSwap: return WorkKind::kCompareSwap;
  }
  return WorkKind::kWrite;
}

std::string_view reason_of(WorkStatus local) {
  switch (local) {
    case WorkStatus::kLocalProtection: return kProtected;
    case WorkStatus::kLocalLength: return kTooLong;
    default: return "Local QP Operation Error";
  }
}

/// A flushed receive has met no message, so its opcode is the one that receives of this transport mostly complete with.
WorkOpcode flushed_receive(const DeviceQueuePair& qp) {
  return qp.is_rc() ? WorkOpcode::kReceive : WorkOpcode::kReceiveRdmaWithImmediate;
}

constexpr uint64_t kAtomicBytes = 8;
constexpr uint64_t kLongest = 0xFFFF'FFFFu;

}  // namespace

PostResult HostDevice::post(Qpn qpn, WorkRequest request) {
  Record* const record = find(qpn);
  if (record == nullptr) return PostResult::kUnknownQp;
  const bool writes = request.opcode == WorkRequest::Opcode::kWrite;
  if (!writes && !record->is_rc()) return PostResult::kUnsupported;
  const WorkOpcode opcode = opcode_of(request.opcode);
  if (record->attributes.state == QpState::kError) {
    flush(*record, request.id, opcode);
    return PostResult::kOk;
  }
  if (record->attributes.state != QpState::kReadyToSend) return PostResult::kWrongState;
  const bool fetches = has_response(kind_of(request.opcode));
  const uint64_t size = fetches ? ScatterList::size_of(request.into) : request.local.size();
  const bool atomic = fetches && request.opcode != WorkRequest::Opcode::kRead;
  const bool fits = request.local_error || (atomic ? size == kAtomicBytes : size <= kLongest);
  if (!fits) return PostResult::kBadLength;
  if (record->sends.size() >= record->attributes.init_attributes.max_send_wr) {
    return PostResult::kQueueFull;
  }
  return start_work(*record, std::move(request));
}

PostResult HostDevice::start_work(Record& record, WorkRequest&& request) {
  const WorkKind kind = kind_of(request.opcode);
  const bool waits = record.in_transport < record.sends.size();  // behind a local error
  SentWork& work = record.sends.emplace_back();
  work.id = request.id;
  work.opcode = opcode_of(request.opcode);
  work.signaled = request.signaled;
  work.local_error = request.local_error;
  if (waits || request.local_error) {
    run_local_error(record);
    return PostResult::kOk;
  }
  work.storage = std::move(request.storage);
  WriteRequest write;
  write.id = request.id;
  write.local = request.local;
  write.remote_va = request.remote_va;
  write.rkey = request.rkey;
  write.immediate = request.immediate;
  write.kind = kind;
  write.solicited = request.solicited;
  write.fence = request.fence;
  if (has_response(kind)) {
    write.immediate.reset();
    write.local = ConstMemory::elided(ScatterList::size_of(request.into));
    work.bytes = static_cast<uint32_t>(write.local.size());
    work.into = std::make_unique<ScatterList>(std::move(request.into), *this);
    work.operation = {work.into.get(), request.compare_add, request.swap};
    write.operation = &work.operation;
  }
  if (!node_.applications_.verbs_of(index_).post_write(*record.handle, write)) {
    record.sends.pop_back();
    return PostResult::kQueueFull;
  }
  work.in_transport = true;
  ++record.in_transport;
  node_.ring_doorbell();
  return PostResult::kOk;
}

/// Work that cannot be executed completes when what was posted before it has, and is the end of the queue pair.
void HostDevice::run_local_error(Record& record) {
  if (record.in_transport > 0 || record.sends.empty() || !record.sends.front().local_error) return;
  const WorkStatus status = *record.sends.front().local_error;
  finish_send(record, status);
  node_.queues_.use(*record.handle)->fail(reason_of(status));
  node_.applications_.deliver_all();
}

PostResult HostDevice::post_receive(Qpn qpn, ReceiveRequest request) {
  Record* const record = find(qpn);
  if (record == nullptr) return PostResult::kUnknownQp;
  if (record->srq()) return PostResult::kUnsupported;
  const QpState state = record->attributes.state;
  if (state == QpState::kReset) return PostResult::kWrongState;
  if (state == QpState::kError) {
    flush(*record, request.id, flushed_receive(*record));
    return PostResult::kOk;
  }
  if (record->receives.size() >= record->attributes.init_attributes.max_recv_wr) {
    return PostResult::kQueueFull;
  }
  record->receives.emplace_back(std::move(request), *this);
  if (!record->handle) return PostResult::kOk;
  ApplicationQueue* const queue = node_.queues_.use(*record->handle);
  if (!queue->post_receive(record->receives.back().posted(0))) {
    record->receives.pop_back();
    return PostResult::kQueueFull;
  }
  return PostResult::kOk;
}

PostResult HostDevice::post_receive(SrqHandle srq, ReceiveRequest request) {
  SharedReceiveQueue& shared = srq_at(srq);
  if (shared.queue.size() >= shared.attributes.max_wr) return PostResult::kQueueFull;
  ReceiveWork work(std::move(request), *this);
  PostedReceive posted = work.posted(0);
  posted.id = shared.work.put(std::move(work));
  if (!shared.queue.post(posted)) {
    shared.work.take(static_cast<uint32_t>(posted.id));
    return PostResult::kQueueFull;
  }
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
  const bool received =
      opcode == WorkOpcode::kReceive || opcode == WorkOpcode::kReceiveRdmaWithImmediate;
  complete(received ? queues.recv_cq : queues.send_cq, completion);
}

/// What no transport holds: work behind a local error, and receives of a queue pair in INIT.
void HostDevice::flush_waiting(Record& record) {
  while (!record.sends.empty()) finish_send(record, WorkStatus::kFlushError);
  while (!record.receives.empty()) {
    flush(record, record.receives.front().id, flushed_receive(record));
    record.receives.pop_front();
  }
}

std::span<WorkCompletion> HostDevice::poll_completions(CqHandle cq, std::span<WorkCompletion> out) {
  CompletionQueue& queue = cq_at(cq);
  size_t count = 0;
  while (count < out.size() && !queue.completions.empty()) out[count++] = queue.completions.pop();
  return out.first(count);
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

/// The oldest work is over. One that succeeded completes if it is to.
void HostDevice::finish_send(Record& record, WorkStatus status) {
  if (record.sends.empty()) return;
  const SentWork work = std::move(record.sends.front());
  record.sends.pop_front();
  if (work.in_transport) --record.in_transport;
  const bool failed = status != WorkStatus::kSuccess;
  record.blamed = record.blamed || (failed && status != WorkStatus::kFlushError);
  if (!failed && !work.signaled) return;
  WorkCompletion completion;
  completion.wr_id = work.id;
  completion.opcode = work.opcode;
  completion.status = status;
  completion.qpn = record.qpn;
  if (!failed) completion.byte_len = work.bytes;
  complete(record.attributes.init_attributes.send_cq, completion);
}

void HostDevice::on_write_complete(Verbs&, QpHandle qp, uint64_t) {
  Record* const record = record_of(qp);
  if (record == nullptr) return;
  finish_send(*record, WorkStatus::kSuccess);
  run_local_error(*record);
}

void HostDevice::on_write_failed(Verbs&, QpHandle qp, uint64_t, std::string_view status) {
  if (Record* const record = record_of(qp)) finish_send(*record, status_of(status));
}

void HostDevice::finish_receive(Record& record, uint64_t number, WorkCompletion completion) {
  completion.qpn = record.qpn;
  completion.source_qpn = record.attributes.receive.remote_qpn;
  if (record.srq()) {
    completion.wr_id = srq_at(*record.srq()).work.take(static_cast<uint32_t>(number)).id;
  } else {
    if (record.receives.empty()) return;
    completion.wr_id = record.receives.front().id;
    record.receives.pop_front();
  }
  complete(record.attributes.init_attributes.recv_cq, completion);
  if (!record.srq()) return;
  SharedReceiveQueue& shared = srq_at(*record.srq());
  if (shared.queue.size() >= shared.attributes.limit) return;
  shared.attributes.limit = 0;
  AsyncEvent event;
  event.kind = AsyncEvent::Kind::kSrqLimit;
  event.srq = *record.srq();
  report(event);
}

void HostDevice::on_receive(Verbs&, QpHandle qp, const ReceiveCompletion& received) {
  Record* const record = record_of(qp);
  if (record == nullptr) return;
  WorkCompletion completion;
  completion.opcode = received.kind == WorkKind::kSend ? WorkOpcode::kReceive
                                                       : WorkOpcode::kReceiveRdmaWithImmediate;
  if (received.has_immediate) completion.immediate = received.immediate;
  completion.byte_len = received.bytes;
  completion.solicited = received.solicited;
  finish_receive(*record, received.id, completion);
}

void HostDevice::on_receive_failed(Verbs&, QpHandle qp, uint64_t id, std::string_view status) {
  Record* const record = record_of(qp);
  if (record == nullptr) return;
  WorkCompletion completion;
  completion.opcode = flushed_receive(*record);
  completion.status = status_of(status);
  record->blamed = record->blamed || completion.status != WorkStatus::kFlushError;
  finish_receive(*record, id, completion);
}

void HostDevice::on_first_request(Verbs&, QpHandle qp) {
  const Record* const record = record_of(qp);
  if (record == nullptr) return;
  AsyncEvent event;
  event.kind = AsyncEvent::Kind::kCommEstablished;
  event.qpn = record->qpn;
  report(event);
}

void HostDevice::on_qp_error(Verbs&, QpHandle qp, std::string_view reason) {
  Record* const record = record_of(qp);
  if (record == nullptr) return;
  record->attributes.state = QpState::kError;
  flush_waiting(*record);
  AsyncEvent event;
  event.kind = AsyncEvent::Kind::kQpFatal;
  event.qpn = record->qpn;
  event.reason = reason;
  event.in_completion = record->blamed || reason == kFlushed;
  if (!record->blamed && reason == "Local Access Violation") {
    event.kind = AsyncEvent::Kind::kQpAccessError;
  } else if (!record->blamed &&
             (reason == "Local Invalid Request" || reason == "Remote Invalid Request Error" ||
              reason == "Write With Immediate Without Receive")) {
    event.kind = AsyncEvent::Kind::kQpRequestError;
  }
  report(event);
  if (!record->srq()) return;
  event.kind = AsyncEvent::Kind::kLastWqe;
  event.in_completion = false;
  report(event);
}

}  // namespace mrclab::endpoint
