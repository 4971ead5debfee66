#include "endpoint/roce/rc_messages.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace mrclab::endpoint {

bool RcMessages::post(const WriteRequest& request) {
  const uint64_t size = request.local.size();
  if (size > 0xFFFF'FFFFu || messages_.size() >= kLimit) return false;
  const auto packets = std::max<Sequence>(1, static_cast<Sequence>((size + pmtu_ - 1) / pmtu_));
  messages_.push_back({request, end_, end_ + packets - 1, 0, fetches_posted_});
  if (has_response(request.kind)) ++fetches_posted_;
  end_ += packets;
  return true;
}

const RcMessages::Message* RcMessages::find(Sequence s) const {
  const auto found = std::partition_point(messages_.begin(), messages_.end(),
                                          [s](const Message& m) { return m.last < s; });
  return found == messages_.end() || s < found->first ? nullptr : &*found;
}

RcMessages::PacketView RcMessages::view(Sequence s) const {
  const Message& m = *find(s);
  if (m.fetches()) return view_of_fetch(m, s);
  const WriteRequest& request = m.request;
  const uint64_t offset = static_cast<uint64_t>(s - m.first) * pmtu_;
  const bool first = s == m.first;
  PacketView view;
  view.end = s + 1;
  view.last = s == m.last;
  view.solicited = view.last && request.solicited;
  RcHeaders headers;
  if (view.last) headers.immediate = request.immediate;
  view.payload =
      request.local.subspan(offset, std::min<uint64_t>(pmtu_, request.local.size() - offset));
  // InfiniBand specification 9.2.2: FIRST, MIDDLE, LAST, LAST with immediate, ONLY, ONLY with immediate.
  uint8_t place = first ? 0 : 1;
  if (view.last) place = static_cast<uint8_t>((first ? 4 : 2) + (headers.immediate ? 1 : 0));
  const bool send = request.kind == WorkKind::kSend;
  const Opcode base = send ? Opcode::kSendFirst : Opcode::kRcWriteFirst;
  view.opcode = static_cast<Opcode>(static_cast<uint8_t>(base) + place);
  if (first && !send) {
    headers.reth =
        Reth{request.remote_va, request.rkey, static_cast<uint32_t>(request.local.size())};
  }
  view.extension = headers;
  return view;
}

/// A READ asks for what is missing from `s` on (InfiniBand specification 9.7.5.2.4).
RcMessages::PacketView RcMessages::view_of_fetch(const Message& m, Sequence s) const {
  const WriteRequest& request = m.request;
  PacketView view;
  view.last = true;
  view.end = m.last + 1;
  if (request.kind == WorkKind::kRead) {
    const uint64_t offset = static_cast<uint64_t>(s - m.first) * pmtu_;
    view.opcode = Opcode::kRcReadRequest;
    view.extension = RcHeaders{Reth{request.remote_va + offset, request.rkey,
                                    static_cast<uint32_t>(request.local.size() - offset)},
                               std::nullopt};
    return view;
  }
  const bool add = request.kind == WorkKind::kFetchAdd;
  const RemoteOperation& operation = *request.operation;
  view.opcode = add ? Opcode::kRcFetchAdd : Opcode::kRcCompareSwap;
  view.extension =
      AtomicEth{request.remote_va, request.rkey, add ? operation.compare_add : operation.swap,
                add ? 0 : operation.compare_add};
  return view;
}

bool RcMessages::may_start(Sequence s, uint32_t most_open) const {
  // Most queue pairs have WRITEs and SENDs alone.
  if (fetches_posted_ == fetches_done_) return true;
  const Message* const m = find(s);
  if (m == nullptr || m->first != s) return true;
  const uint64_t open = m->fetches_before - fetches_done_;
  return (!m->request.fence || open == 0) && (!m->fetches() || open < most_open);
}

Sequence RcMessages::answered_to(Sequence limit) const {
  for (const Message& m : messages_) {
    if (m.first >= limit) break;
    if (m.fetches() && m.first + m.answered <= m.last) return m.first + m.answered;
  }
  return limit;
}

bool RcMessages::wants_answer(Sequence s) const {
  const Message* const m = find(s);
  return m != nullptr && m->fetches();
}

bool RcMessages::take_answer(Sequence s, const MrcPacket& packet) {
  Message& m = const_cast<Message&>(*find(s));
  const auto& response = std::get<RcResponse>(packet.extension);
  const RemoteOperation* const operation = m.request.operation;
  RegionAccess* const into = operation != nullptr ? operation->into : nullptr;
  const bool reads = m.request.kind == WorkKind::kRead;
  if (reads != is_rc_read_response(packet.bth.opcode)) return false;
  if (!reads) {
    // Memory has it in the order of the host (InfiniBand specification 9.4.5).
    std::array<uint8_t, 8> bytes;
    std::memcpy(bytes.data(), &response.original->original, bytes.size());
    if (into != nullptr) into->write(0, bytes, true);
    ++m.answered;
    return true;
  }
  const uint64_t offset = static_cast<uint64_t>(s - m.first) * pmtu_;
  const uint64_t wanted = std::min<uint64_t>(pmtu_, m.request.local.size() - offset);
  const bool last =
      packet.bth.opcode == Opcode::kRcReadLast || packet.bth.opcode == Opcode::kRcReadOnly;
  if (packet.payload_length != wanted || last != (s == m.last)) return false;
  if (into != nullptr && !packet.cut && wanted > 0) into->write(offset, packet.payload, last);
  ++m.answered;
  return true;
}

std::optional<uint64_t> RcMessages::complete_next(Sequence acknowledged) {
  if (messages_.empty() || messages_.front().last >= acknowledged) return std::nullopt;
  return give_up_oldest();
}

uint64_t RcMessages::give_up_oldest() {
  const uint64_t id = messages_.front().request.id;
  if (messages_.front().fetches()) ++fetches_done_;
  messages_.pop_front();
  return id;
}

}  // namespace mrclab::endpoint
