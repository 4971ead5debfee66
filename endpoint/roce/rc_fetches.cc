// READs and atomics at the responder.

#include <algorithm>
#include <array>
#include <cstring>

#include "endpoint/base/transport_nak.h"
#include "endpoint/roce/rc_responder.h"

namespace mrclab::endpoint {

/// A READ or an atomic that is the expected packet.
Refusal RcResponder::on_fetch(const MrcPacket& packet, std::optional<RcReply>& reply) {
  if (in_message_) return reject(Refusal::kBrokenMessage, reply);
  if (answers_.full()) return reject(Refusal::kBrokenMessage, reply);
  nak_sent_ = false;
  const auto* const read = std::get_if<RcHeaders>(&packet.extension);
  return read != nullptr ? on_read(*read->reth, reply) : on_atomic(packet, reply);
}

bool RcResponder::may_reach(uint32_t rkey, uint64_t va, uint64_t length, Reach reach,
                            Refusal& why) const {
  why = Refusal::kBadRkey;
  if (!allows(allowed_, reach)) return false;
  const MemoryCheck check = memory_.resolve(rkey, va, length, reach, domain_).check;
  if (check == MemoryCheck::kOutOfBounds) why = Refusal::kOutOfBounds;
  return check == MemoryCheck::kOk;
}

Refusal RcResponder::on_read(const Reth& reth, std::optional<RcReply>& reply) {
  Refusal why{};
  // Of no bytes neither key nor address is looked at (InfiniBand specification 9.7.4.1.4).
  if (reth.dma_length > 0 && !may_reach(reth.rkey, reth.va, reth.dma_length, Reach::kRead, why)) {
    return reject(why, reply);
  }
  const uint64_t packets = (uint64_t{reth.dma_length} + parameters_.pmtu - 1) / parameters_.pmtu;
  const Sequence last = expected_ + std::max<Sequence>(1, static_cast<Sequence>(packets)) - 1;
  answers_.push({expected_, last, expected_, reth, {}});
  // Nothing of the peer has a PSN of the answer: what claimed one is forgotten.
  for (Sequence s = expected_; s <= std::min(last, expected_ + most_ahead() - 1); ++s) {
    if (ahead(s).present && ahead(s).held > 0) --held_;
    ahead(s) = {};
  }
  expected_ = last + 1;
  ++messages_;
  return Refusal::kNone;
}

Refusal RcResponder::on_atomic(const MrcPacket& packet, std::optional<RcReply>& reply) {
  const auto& atomic = std::get<AtomicEth>(packet.extension);
  // InfiniBand specification 9.7.4.1.3: an atomic's address is a multiple of 8.
  if (atomic.va % 8 != 0) return reject(Refusal::kBrokenMessage, reply);
  Refusal why{};
  if (!may_reach(atomic.rkey, atomic.va, 8, Reach::kAtomic, why)) return reject(why, reply);
  const MemoryRegistry::Target target =
      memory_.resolve(atomic.rkey, atomic.va, 8, Reach::kAtomic, domain_);
  std::array<uint8_t, 8> bytes{};
  target.read(bytes);
  uint64_t original = 0;
  std::memcpy(&original, bytes.data(), bytes.size());
  const bool add = packet.bth.opcode == Opcode::kRcFetchAdd;
  if (add || original == atomic.compare) {
    const uint64_t value = add ? original + atomic.swap_add : atomic.swap_add;
    std::memcpy(bytes.data(), &value, bytes.size());
    target.write(bytes, true);
  }
  answers_.remember(expected_, original);
  answers_.push({expected_, expected_, expected_, {}, original});
  ahead(expected_).turned_away = false;
  ++expected_;
  ++messages_;
  return Refusal::kNone;
}

/// The request came before: a READ is read again, an atomic answered from memory (InfiniBand specification 9.7.5.1.3).
Refusal RcResponder::answer_again(const MrcPacket& packet, Sequence s,
                                  std::optional<RcReply>& reply) {
  static_cast<void>(reply);
  answers_.drop_from(s);
  if (answers_.full()) return Refusal::kDuplicate;
  if (const auto* const read = std::get_if<RcHeaders>(&packet.extension)) {
    const uint64_t length = read->reth->dma_length;
    const uint64_t packets = (length + parameters_.pmtu - 1) / parameters_.pmtu;
    const Sequence last = s + std::max<Sequence>(1, static_cast<Sequence>(packets)) - 1;
    if (last < expected_) answers_.push({s, last, s, *read->reth, {}});
  } else if (const std::optional<uint64_t> original = answers_.recall(s)) {
    answers_.push({s, s, s, {}, original});
  }
  return Refusal::kDuplicate;
}

std::optional<RcPacket> RcResponder::next_answer(std::optional<RcReply>& reply) {
  if (answers_.empty()) return std::nullopt;
  RcAnswers::Answer& answer = answers_.front();
  const Sequence s = answer.next;
  const bool first = s == answer.first, last = s == answer.last;
  RcPacket packet;
  packet.psn = psns_.psn(s);
  RcResponse response;
  if (answer.original) {
    packet.opcode = Opcode::kRcAtomicAcknowledge;
    response.original = AtomicAckEth{*answer.original};
  } else {
    packet.opcode = first && last ? Opcode::kRcReadOnly
                    : first       ? Opcode::kRcReadFirst
                    : last        ? Opcode::kRcReadLast
                                  : Opcode::kRcReadMiddle;
    const uint64_t offset = static_cast<uint64_t>(s - answer.first) * parameters_.pmtu;
    const uint64_t length = std::min<uint64_t>(parameters_.pmtu, answer.read.dma_length - offset);
    const MemoryRegistry::Target target =
        memory_.resolve(answer.read.rkey, answer.read.va + offset, length, Reach::kRead, domain_);
    if (length > 0 && target.check != MemoryCheck::kOk) {
      // The region went meanwhile.
      answers_.clear();
      reply = RcReply{psns_.psn(s), {kNakRemoteAccess, messages_ & 0xFF'FFFF}};
      events_.request_refused("Local Access Violation");
      return std::nullopt;
    }
    if (target.access != nullptr && length > 0) {
      scratch_.resize(length);
      target.read(scratch_);
      packet.payload = std::span<const uint8_t>(scratch_);
    } else {
      packet.payload = length > 0 ? ConstMemory(target.data, length) : ConstMemory{};
    }
  }
  if (packet.opcode != Opcode::kRcReadMiddle)
    response.aeth = Aeth{kAckSyndrome, messages_ & 0xFF'FFFF};
  packet.extension = response;
  ++answer.next;
  if (last) answers_.pop();
  if (answers_.empty() && refusal_) {
    reply = refusal_->reply;
    events_.request_refused(refusal_->reason);
  }
  return packet;
}

}  // namespace mrclab::endpoint
