// Work requests: from the records of the ring to posts on the device.

#include <endian.h>

#include <cstring>

#include "verbs/server/host_programs.h"
#include "verbs/server/session_reply.h"
#include "verbs/server/verbs_session.h"
#include "verbs/server/work_codes.h"

namespace mrclab::verbs {
namespace {

using endpoint::WorkStatus;

/// What every record begins with, one of padding as well.
struct RecordHead {
  uint32_t bytes;
  uint16_t kind, sges;
};
static_assert(offsetof(WorkRecord, kind) == 4 && offsetof(WorkRecord, sges) == 6);

WorkRecord record_at(const uint8_t* bytes) {
  WorkRecord record;
  std::memcpy(&record, bytes, sizeof record);
  return record;
}

WorkSge sge_at(const uint8_t* tail, uint32_t number) {
  WorkSge sge;
  std::memcpy(&sge, tail + number * sizeof sge, sizeof sge);
  return sge;
}

/// What an atomic brings back.
constexpr uint64_t kAtomicBytes = 8;

bool is_inline(const WorkRecord& record) { return (record.flags & kInline) != 0; }

/// Of the message; 64 bits, because each of its pieces has up to 2^32 - 1.
uint64_t length_of(const WorkRecord& record, const uint8_t* tail) {
  if (is_inline(record)) return record.inline_bytes;
  uint64_t length = 0;
  for (uint32_t i = 0; i < record.sges; ++i) length += sge_at(tail, i).length;
  return length;
}

}  // namespace

/// Copies the record at the front of the ring. False: there is none, or the session is broken.
bool VerbsSession::fetch_record() {
  if (have_record_) return true;
  if (broken_ || !work_) return false;
  const auto& ring = work_->as<WorkRing>();
  const uint64_t written = ring.written.load(std::memory_order_acquire);
  while (taken_ != written) {
    const uint64_t filled = written - taken_;
    const uint64_t offset = taken_ % kWorkRingBytes;
    const uint64_t room = kWorkRingBytes - offset;
    RecordHead head;
    broken_ = filled > kWorkRingBytes || filled < sizeof head;
    if (broken_) return false;
    std::memcpy(&head, &ring.records[offset], sizeof head);
    broken_ =
        head.bytes % 8 != 0 || head.bytes < sizeof head || head.bytes > filled || head.bytes > room;
    if (broken_) return false;
    if (head.kind == kWorkPadding) {
      taken_ += head.bytes;
      continue;
    }
    broken_ = head.bytes < sizeof(WorkRecord) || head.bytes > record_.size();
    if (broken_) return false;
    std::memcpy(record_.data(), &ring.records[offset], head.bytes);
    std::memcpy(record_.data(), &head, sizeof head);  // what was checked, not what stands there now
    const WorkRecord record = record_at(record_.data());
    const size_t tail = is_inline(record) ? record.inline_bytes : record.sges * sizeof(WorkSge);
    broken_ = sizeof record + tail > head.bytes;
    if (broken_) return false;
    return have_record_ = true;
  }
  return false;
}

void VerbsSession::drop_record() {
  RecordHead head;
  std::memcpy(&head, record_.data(), sizeof head);
  taken_ += head.bytes;
  have_record_ = false;
}

FabricTime VerbsSession::next_work() {
  if (!fetch_record()) return FabricTime::never();
  const uint64_t at = record_at(record_.data()).at_ps;
  return FabricTime::from_ps(
      static_cast<int64_t>(std::min(at, static_cast<uint64_t>(FabricTime::never().ps()))));
}

bool VerbsSession::take_work(FabricTime until) {
  uint32_t count = 0;
  while (count < kMaxTaken && next_work() <= until && fetch_record()) {
    take_record();
    drop_record();
    ++count;
  }
  if (count == 0) return false;
  // The places are the program's again; our own count is what we go by.
  work_->as<WorkRing>().taken.store(taken_, std::memory_order_release);
  return true;
}

void VerbsSession::take_record() {
  const WorkRecord record = record_at(record_.data());
  if (record.kind != static_cast<uint16_t>(WorkKind::kSend)) {
    post_receive(record, record_.data() + sizeof record);
    return;
  }
  // A queue pair that is not there was destroyed by another thread of the program.
  if (QpObject* const qp = qps_.find(record.handle)) post_send(*qp, record_.data());
}

void VerbsSession::post_send(QpObject& qp, const uint8_t* record) {
  if (qp.waiting.empty() && try_post(qp, record)) return;
  // The library counts places; who posts more than there are loses it.
  if (qp.waiting.size() >= qp.request.max_send_wr) return;
  qp.waiting.emplace_back(record, record + record_at(record).bytes);
  waiting_qps_.insert(qp.handle);
}

void VerbsSession::pump_waiting() {
  for (auto handle = waiting_qps_.begin(); handle != waiting_qps_.end();) {
    QpObject& qp = *qps_.find(*handle);
    while (!qp.waiting.empty() && try_post(qp, qp.waiting.front().data())) qp.waiting.pop_front();
    handle = qp.waiting.empty() ? waiting_qps_.erase(handle) : std::next(handle);
  }
}

/// False: its bytes would be too many together with what is under way.
bool VerbsSession::try_post(QpObject& qp, const uint8_t* bytes) {
  const WorkRecord record = record_at(bytes);
  const uint8_t* const tail = bytes + sizeof record;
  const uint64_t length = length_of(record, tail);
  const bool copies = takes_bytes(record.opcode) && length <= kMaxMessageBytes;
  if (copies && ((qp.bytes_under_way != 0 && qp.bytes_under_way + length > kQpBytes) ||
                 (copied_bytes_ != 0 && copied_bytes_ + length > kCopiedBytes))) {
    return false;
  }
  const uint32_t place = slots_.take();
  WorkSlot& slot = *slots_.find(place);
  slot.wr_id = record.wr_id;
  slot.owner = qp.handle;
  slot.opcode = completion_opcode(record.opcode);
  slot.signaled = qp.request.signal_all != 0 || (record.flags & kSignaled) != 0;
  slot.length = static_cast<uint32_t>(length);

  endpoint::WorkRequest work;
  work.id = place;
  const std::optional<endpoint::WorkRequest::Opcode> opcode = device_opcode(record.opcode);
  work.opcode = opcode.value_or(endpoint::WorkRequest::Opcode::kWrite);
  if (has_immediate(record.opcode)) work.immediate = be32toh(record.immediate);
  work.solicited = (record.flags & kSolicited) != 0;
  work.fence = (record.flags & kFence) != 0;
  work.remote_va = record.remote_address;
  work.rkey = record.rkey;
  work.compare_add = record.compare_add;
  work.swap = record.swap;
  if (!opcode) {
    work.local_error = WorkStatus::kLocalQpOperation;
  } else if (length > kMaxMessageBytes) {
    work.local_error = WorkStatus::kLocalLength;
  } else if (takes_bytes(record.opcode)) {
    if (!gather(qp, record, tail, length, work)) work.local_error = WorkStatus::kLocalProtection;
    slot.bytes = work.storage ? length : 0;
  } else if (is_atomic(record.opcode) && length != kAtomicBytes) {
    work.local_error = WorkStatus::kLocalLength;
  } else if (!scatter(record, tail, qp.domain, slot, work.into)) {
    work.local_error = WorkStatus::kLocalProtection;
  }
  const uint64_t copied = slot.bytes;
  qp.bytes_under_way += copied;
  copied_bytes_ += copied;
  switch (device_.post(qp.qpn, std::move(work))) {
    case endpoint::PostResult::kOk: break;
    case endpoint::PostResult::kWrongState:
      // RESET, INIT and RTR: a NIC executes nothing, and nothing completes (IBTA 10.8.3.1 leaves it to the provider).
    case endpoint::PostResult::kUnknownQp: forget_slot(place); break;
    default: refuse_send(qp, place); break;
  }
  return true;
}

/// What the device does not take although the library should have refused it: the queue pair ends.
void VerbsSession::refuse_send(QpObject& qp, uint32_t place) {
  const WorkSlot slot = *slots_.find(place);
  forget_slot(place);
  CompletionEntry entry{};
  entry.wr_id = slot.wr_id;
  entry.status = status_code(WorkStatus::kLocalQpOperation);
  entry.opcode = slot.opcode;
  entry.qpn = qp.qpn.value;
  put_completion(*qp.send_cq, entry, true);
  device_.modify_to_error(qp.qpn);
}

void VerbsSession::forget_slot(uint32_t place) {
  const WorkSlot& slot = *slots_.find(place);
  if (QpObject* const qp = slot.shared ? nullptr : qps_.find(slot.owner)) {
    qp->bytes_under_way -= slot.bytes;
  }
  copied_bytes_ -= slot.bytes;
  slots_.release(place);
}

bool VerbsSession::gather(const QpObject& qp, const WorkRecord& record, const uint8_t* tail,
                          uint64_t length, endpoint::WorkRequest& work) {
  if (length == 0) return true;
  auto storage = std::make_unique_for_overwrite<uint8_t[]>(length);
  if (is_inline(record)) {
    std::memcpy(storage.get(), tail, length);
  } else {
    uint64_t at = 0;
    for (uint32_t i = 0; i < record.sges; ++i) {
      const WorkSge sge = sge_at(tail, i);
      if (sge.length == 0) continue;
      const std::shared_ptr<RegionObject> region = region_of(sge.lkey);
      if (!region || !region->allows(sge.address, sge.length, qp.domain, false)) return false;
      region->read(region->offset_of(sge.address), {storage.get() + at, sge.length});
      at += sge.length;
    }
  }
  work.local = {storage.get(), length};
  work.storage = std::move(storage);
  return true;
}

bool VerbsSession::scatter(const WorkRecord& record, const uint8_t* tail, uint32_t domain,
                           WorkSlot& slot, std::vector<endpoint::MemoryPiece>& pieces) {
  for (uint32_t i = 0; i < record.sges; ++i) {
    const WorkSge sge = sge_at(tail, i);
    if (sge.length == 0) continue;
    std::shared_ptr<RegionObject> region = region_of(sge.lkey);
    if (!region || !region->allows(sge.address, sge.length, domain, true)) return false;
    pieces.push_back({region.get(), region->offset_of(sge.address), sge.length});
    slot.regions.push_back(std::move(region));
  }
  return true;
}

void VerbsSession::post_receive(const WorkRecord& record, const uint8_t* tail) {
  const bool shared = record.kind == static_cast<uint16_t>(WorkKind::kSharedReceive);
  if (is_inline(record)) return;  // means nothing for a receive
  QpObject* const qp = shared ? nullptr : qps_.find(record.handle);
  SrqObject* const srq = shared ? srqs_.find(record.handle) : nullptr;
  if (qp == nullptr && srq == nullptr) return;
  const uint32_t place = slots_.take();
  WorkSlot& slot = *slots_.find(place);
  slot.wr_id = record.wr_id;
  slot.owner = record.handle;
  slot.receive = true;
  slot.shared = shared;
  slot.signaled = true;
  endpoint::ReceiveRequest receive;
  receive.id = place;
  if (!scatter(record, tail, qp != nullptr ? qp->domain : srq->domain, slot, receive.pieces)) {
    receive.pieces.clear();
    receive.local_error = WorkStatus::kLocalProtection;
  }
  const endpoint::PostResult result = qp != nullptr
                                          ? device_.post_receive(qp->qpn, std::move(receive))
                                          : device_.post_receive(srq->device, std::move(receive));
  // The library refuses before what the device would; what still comes here is nobody's.
  if (result != endpoint::PostResult::kOk) slots_.release(place);
}

}  // namespace mrclab::verbs
