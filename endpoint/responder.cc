#include "endpoint/responder.h"

#include <algorithm>
#include <cstring>

#include "endpoint/transport_nak.h"

namespace mrclab::endpoint {

namespace {

SackTrigger trigger_of(const MrcPacket& packet, uint16_t timestamp) {
  return {packet.entropy(), timestamp, packet.outer.ecn() == kEcnCe};
}

bool is_first(Opcode opcode) {
  return opcode == Opcode::kWriteFirst || opcode == Opcode::kWriteOnly ||
         opcode == Opcode::kWriteOnlyImm;
}

uint16_t timestamp_of(const MrcPacket& packet) {
  const auto& write = std::get<WriteHeaders>(packet.extension);
  return write.tseth ? write.tseth->tx_timestamp : uint16_t{0};
}

}  // namespace

Responder::Responder(const TransportProfile& profile, const DirectionLimits& limits, Psn first_psn,
                     const MemoryRegistry& memory, ResponderEvents& events, HostStats& stats)
    : profile_(profile),
      limits_(limits),
      psns_(first_psn),
      memory_(memory),
      events_(events),
      stats_(stats),
      window_(limits.max_psn_range),
      sacks_(profile.sack_threshold, profile.receiver_penalty_sent, profile.sack_base),
      messages_(profile.first_msn),
      immediates_(static_cast<uint16_t>(profile.first_msn)) {
  ask_for_range(kMaxMprUnits);
}

void Responder::ask_for_range(uint32_t units) {
  if (!limits_.dynamic_mpr) return;
  const uint32_t most = std::max(1u, limits_.max_psn_range / kMprUnit);
  sacks_.set_range_units(static_cast<uint8_t>(std::clamp(units, 1u, most)));
}

Refusal Responder::on_write(const MrcPacket& packet, Replies& replies, uint64_t& placed) {
  const Sequence s = psns_.sequence(packet.bth.psn, window_.cumulative());
  if (packet.trimmed) return on_trimmed(packet, s, replies);
  const SackTrigger trigger = trigger_of(packet, timestamp_of(packet));
  switch (window_.classify(s)) {
    case ReceiveWindow::Position::kNew: break;
    case ReceiveWindow::Position::kDuplicate:
      replies.sack = sacks_.make(window_, psns_, s, trigger);
      if (s <= window_.cumulative()) put_ack(replies);
      return Refusal::kDuplicate;
    case ReceiveWindow::Position::kAhead:
      if (profile_.nack_out_of_window) {
        replies.nack = nack(NackReason::kPsnOutOfWindow, packet);
      }
      return Refusal::kPsnOutOfWindow;
    case ReceiveWindow::Position::kFarPast: return Refusal::kPsnFarPast;
  }
  const auto& write = std::get<WriteHeaders>(packet.extension);
  if (!write.reth || !length_fits(packet, *write.reth)) {
    put_nak_once(kNakInvalidRequest, s, packet, replies);
    return Refusal::kBadLength;
  }
  if (too_many_immediates(packet)) {
    put_nak(kNakWriteImmLimit, s, replies);
    replies.failure = failure_of(kNakWriteImmLimit);
    return Refusal::kTooManyImmediates;
  }
  const MemoryRegistry::Target target =
      memory_.resolve(write.reth->rkey, write.reth->va, packet.payload_length);
  if (target.check != MemoryCheck::kOk) {
    ++stats_.memory_faults;
    put_nak_once(kNakRemoteAccess, s, packet, replies);
    return target.check == MemoryCheck::kBadRkey ? Refusal::kBadRkey : Refusal::kOutOfBounds;
  }
  // A run without payload has none to place, and no memory to place it in.
  if (target.data != nullptr && !packet.cut) {
    std::memcpy(target.data, packet.payload.data(), packet.payload.size());
  }
  placed = packet.payload_length;
  order_.arrived(s, {is_first(packet.bth.opcode), is_last(packet.bth.opcode), write.meth.msn,
                     write.reth->dma_length, static_cast<uint32_t>(placed)});
  window_.accept(s, is_last(packet.bth.opcode), write.reth->dma_length, write.immediate);
  const bool forced = packet.bth.ack_request || packet.bth.retransmission || trigger.ce_marked;
  const bool sack = sacks_.on_packet(placed, forced);
  const bool whole = complete_messages(replies);
  if (sack) replies.sack = sacks_.make(window_, psns_, s, trigger);
  return whole ? Refusal::kCount : Refusal::kBrokenMessage;
}

bool Responder::complete_messages(Replies& replies) {
  while (true) {
    const auto end = window_.advance();
    while (order_.checked() < window_.cumulative()) {
      if (order_.check_next()) continue;
      put_nak(kNakInvalidRequest, order_.checked(), replies);
      replies.failure = failure_of(kNakInvalidRequest);
      return false;
    }
    if (!end) return true;
    if (end->immediate) {
      const std::optional<uint64_t> receive = receives_.take();
      if (!receive) {
        put_nak(kNakRemoteOperation, window_.cumulative(), replies);
        replies.failure = "Write With Immediate Without Receive";
        return true;
      }
      ++immediates_;
      events_.immediate_received({*receive, *end->immediate, end->bytes});
    }
    ++messages_;
    put_ack(replies);
  }
}

/// RQMSN numbers the immediates, so an early one tells how many are in flight at least.
bool Responder::too_many_immediates(const MrcPacket& packet) const {
  const auto& write = std::get<WriteHeaders>(packet.extension);
  if (!write.immediate) return false;
  const auto in_flight = static_cast<int16_t>(write.meth.rqmsn - immediates_);
  return in_flight > static_cast<int32_t>(limits_.max_immediates);
}

Refusal Responder::on_trimmed(const MrcPacket& packet, Sequence s, Replies& replies) {
  ++stats_.trims_seen;
  switch (window_.classify(s)) {
    case ReceiveWindow::Position::kNew: break;
    case ReceiveWindow::Position::kDuplicate:
      replies.sack = sacks_.make(window_, psns_, s, trigger_of(packet, timestamp_of(packet)));
      return Refusal::kDuplicate;
    case ReceiveWindow::Position::kAhead: return Refusal::kPsnOutOfWindow;
    case ReceiveWindow::Position::kFarPast: return Refusal::kPsnFarPast;
  }
  if (!limits_.trim_nack) return Refusal::kCount;  // the sender's timers have to find it
  const bool last_hop = packet.outer.dscp() == kDscpTrimmedLastHop;
  replies.nack = nack(last_hop ? NackReason::kTrimmedLastHop : NackReason::kTrimmed, packet);
  return Refusal::kCount;
}

bool Responder::length_fits(const MrcPacket& packet, const Reth& reth) const {
  const size_t length = packet.payload_length;
  if (length == 0 || length > profile_.pmtu) return false;
  if (packet.payload.size() != length && !packet.cut) return false;
  if (length > reth.dma_length) return false;
  switch (packet.bth.opcode) {
    case Opcode::kWriteFirst:
    case Opcode::kWriteMiddle: return length == profile_.pmtu;
    case Opcode::kWriteOnly:
    case Opcode::kWriteOnlyImm: return length == reth.dma_length;
    default: return true;
  }
}

void Responder::on_probe(const MrcPacket& packet, Replies& replies) {
  const auto& peth = std::get<Peth>(packet.extension);
  replies.sack = sacks_.make_probe_answer(window_, psns_, peth.probe_id,
                                          trigger_of(packet, peth.tx_timestamp));
  // A transport ACK may have been lost, and nothing else would repeat it (our choice).
  if (window_.cumulative() >= 0) put_ack(replies);
}

Neth Responder::nack(NackReason reason, const MrcPacket& packet) const {
  Neth neth;
  neth.reason = static_cast<uint8_t>(reason);
  neth.entropy = packet.entropy();
  neth.psn = packet.bth.psn;
  neth.tx_timestamp = timestamp_of(packet);
  return neth;
}

void Responder::put_nak(uint8_t syndrome, Sequence s, Replies& replies) {
  nak_ = SentNak{syndrome, s};
  replies.nak = Aeth{syndrome, messages_ & 0xFF'FFFF};
  replies.nak_psn = psns_.psn(s);
}

/// One NAK for all bad packets that were under way when the first was answered, as InfiniBand has it.
/// One that is sent again has not been answered, as far as its sender knows.
void Responder::put_nak_once(uint8_t syndrome, Sequence s, const MrcPacket& packet,
                             Replies& replies) {
  if (nak_ && s > nak_->sequence && !packet.bth.retransmission) return;
  put_nak(syndrome, s, replies);
}

void Responder::on_probe_of_failed(Replies& replies) const {
  const SentNak again = nak_.value_or(
      SentNak{kNakRemoteOperation, std::max(window_.highest(), window_.cumulative())});
  if (again.sequence < 0) return;  // nothing ever came in: nothing waits for an answer
  replies.nak = Aeth{again.syndrome, messages_ & 0xFF'FFFF};
  replies.nak_psn = psns_.psn(again.sequence);
}

void Responder::put_ack(Replies& replies) const {
  replies.ack = Aeth{kAckSyndrome, messages_ & 0xFF'FFFF};
  replies.ack_psn = psns_.psn(window_.cumulative());
}

}  // namespace mrclab::endpoint
