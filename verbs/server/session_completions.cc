// Completions, channel events and asynchronous events: from the device into what the program shares.

#include <endian.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

#include "verbs/server/host_programs.h"
#include "verbs/server/session_reply.h"
#include "verbs/server/verbs_session.h"
#include "verbs/server/work_codes.h"

namespace mrclab::verbs {

void VerbsSession::note_completion(endpoint::CqHandle cq) {
  const auto handle = cq_of_device_.find(cq.value);
  if (handle == cq_of_device_.end()) return;
  CqObject& object = *cqs_.find(handle->second);
  if (!object.waiting) {
    object.waiting = true;
    dirty_cqs_.push_back(handle->second);
    if (user_ != nullptr) user_->on_something();
  }
  // The device's queue must not run over between two deliveries.
  if (++object.undelivered % (kMaxCqEntries / 2) == 0) device_.wake_at(device_.now());
}

void VerbsSession::note_something() {
  if (user_ != nullptr) user_->on_something();
}

void VerbsSession::wake() {
  if (user_ != nullptr) user_->on_wake();
}

bool VerbsSession::deliver() {
  bool some = programs_.hand_out_events();
  // Work that waited may fail at once, which makes more of them; a bound, so that one program's work ends.
  for (int round = 0; round < 64 && !dirty_cqs_.empty(); ++round) {
    std::vector<uint32_t> dirty;
    dirty.swap(dirty_cqs_);
    for (const uint32_t handle : dirty) {
      CqObject* const cq = cqs_.find(handle);
      if (cq == nullptr) continue;  // destroyed meanwhile
      cq->waiting = false;
      cq->undelivered = 0;
      some = deliver_from(*cq) || some;
    }
    if (!waiting_qps_.empty()) pump_waiting();
  }
  if (some) wake_program();
  return some;
}

bool VerbsSession::deliver_from(CqObject& cq) {
  std::array<endpoint::WorkCompletion, 64> room;
  bool some = false;
  for (;;) {
    const auto done = device_.poll_completions(cq.device, room);
    for (const endpoint::WorkCompletion& completion : done) complete(cq, completion);
    some = some || !done.empty();
    if (done.size() < room.size()) return some;
  }
}

void VerbsSession::complete(CqObject& cq, const endpoint::WorkCompletion& done) {
  const WorkSlot* const slot = slots_.find(done.wr_id);
  if (slot == nullptr) return;  // of a queue pair that was destroyed or reset
  const bool good = done.status == endpoint::WorkStatus::kSuccess;
  if (good && !slot->signaled) {
    forget_slot(static_cast<uint32_t>(done.wr_id));
    return;
  }
  CompletionEntry entry{};
  entry.wr_id = slot->wr_id;
  entry.status = status_code(done.status);
  entry.opcode = slot->opcode;
  entry.bytes = slot->length;
  entry.qpn = done.qpn.value;
  if (slot->receive) {
    entry.opcode = done.opcode == endpoint::WorkOpcode::kReceiveRdmaWithImmediate
                       ? kReceiveWithImmediate
                       : kReceiveCompleted;
    entry.bytes = done.byte_len;
    entry.source_qpn = done.source_qpn.value;
    if (done.immediate) {
      entry.immediate = htobe32(*done.immediate);
      entry.flags = kWithImmediate;
    }
  }
  const bool notable = !good || done.solicited;
  forget_slot(static_cast<uint32_t>(done.wr_id));
  put_completion(cq, entry, notable);
}

void VerbsSession::put_completion(CqObject& cq, const CompletionEntry& entry, bool notable) {
  if (cq.overrun) return;
  CompletionRing& ring = cq.ring();
  // The program may have written anything there: more than the depth counts as full.
  if (cq.written - ring.taken.load(std::memory_order_acquire) >= cq.depth) {
    overrun(cq);
    return;
  }
  CompletionEntry& place = ring.entries[cq.written & (cq.depth - 1)];
  place = entry;
  place.at_ps = static_cast<uint64_t>(std::max(device_.now(), FabricTime::zero()).ps());
  ring.written.store(++cq.written, std::memory_order_release);
  if (user_ != nullptr) user_->on_completion_written(cq.handle);
  if (cq.armed == CqObject::Armed::kNo || (cq.armed == CqObject::Armed::kSolicited && !notable)) {
    return;
  }
  cq.armed = CqObject::Armed::kNo;
  ChannelObject* const channel = channels_.find(cq.channel);
  if (channel == nullptr) return;
  const ChannelEventWire event{cq.handle, 0};
  // A program that does not read loses events; its queue can be armed once at a time, so that takes many queues.
  if (channel->events.send({reinterpret_cast<const uint8_t*>(&event), sizeof event}) &&
      user_ != nullptr) {
    user_->on_channel_event(cq.channel);
  }
}

/// Of a queue that ran over, no completion can be trusted to be the next one: its queue pairs end (IBTA 10.10.3).
void VerbsSession::overrun(CqObject& cq) {
  cq.overrun = true;
  put_event(kEventCqError, cq.handle, device_.now());
  qps_.for_each([&](uint32_t, QpObject& qp) {
    if (qp.send_cq != &cq && qp.recv_cq != &cq) return;
    if (device_.query_queue_pair(qp.qpn).state != endpoint::QpState::kReset) {
      device_.modify_to_error(qp.qpn);
    }
  });
}

void VerbsSession::put_event(uint32_t event, uint32_t handle, FabricTime at) {
  const AsyncEventWire wire{event, handle,
                            static_cast<uint64_t>(std::max(at, FabricTime::zero()).ps())};
  if (events_.send({reinterpret_cast<const uint8_t*>(&wire), sizeof wire}) && user_ != nullptr) {
    user_->on_async_event();
  }
}

void VerbsSession::note_event(const endpoint::AsyncEvent& event) {
  using Kind = endpoint::AsyncEvent::Kind;
  const QpObject* const qp = qp_of(event.qpn);
  const uint32_t handle = qp != nullptr ? qp->handle : 0;
  const auto of_qp = [&](uint32_t type) {
    if (qp != nullptr && !event.in_completion) put_event(type, handle, event.at);
  };
  switch (event.kind) {
    case Kind::kQpFatal: of_qp(kEventQpFatal); break;
    case Kind::kQpRequestError: of_qp(kEventQpRequestError); break;
    case Kind::kQpAccessError: of_qp(kEventQpAccessError); break;
    case Kind::kCommEstablished: of_qp(kEventCommEstablished); break;
    case Kind::kLastWqe: of_qp(kEventLastWqe); break;
    case Kind::kCqError: {
      const auto cq = cq_of_device_.find(event.cq.value);
      if (cq != cq_of_device_.end()) overrun(*cqs_.find(cq->second));
      break;
    }
    case Kind::kSrqLimit:
      srqs_.for_each([&](uint32_t, const SrqObject& srq) {
        if (srq.device == event.srq) put_event(kEventSrqLimit, srq.handle, event.at);
      });
      break;
    // All planes are one port to ibverbs, number 1.
    case Kind::kPortActive:
      if (event.whole_nic) put_event(kEventPortActive, 1, event.at);
      break;
    case Kind::kPortError:
      if (event.whole_nic) put_event(kEventPortError, 1, event.at);
      break;
    case Kind::kGidChange: put_event(kEventGidChange, 1, event.at); break;
    case Kind::kEvGood:
    case Kind::kEvAssumedBad:
    case Kind::kEvDenied: break;  // The controller polls those by themselves.
  }
}

/// A program that sleeps until there is a completion does so on this word.
void VerbsSession::wake_program() {
  if (!work_) return;
  std::atomic<uint32_t>& sleeping = work_->as<WorkRing>().sleeping;
  if (sleeping.load(std::memory_order_acquire) == 0) return;
  sleeping.store(0, std::memory_order_release);
  ::syscall(SYS_futex, &sleeping, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

uint64_t VerbsSession::completions_waiting(uint32_t handle) {
  const CqObject* const cq = cqs_.find(handle);
  if (cq == nullptr) return 0;
  const uint64_t waiting = cq->written - cq->ring().taken.load(std::memory_order_acquire);
  return std::min<uint64_t>(waiting, cq->depth);
}

}  // namespace mrclab::verbs
