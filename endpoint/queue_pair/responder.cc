#include "endpoint/queue_pair/responder.h"

#include <algorithm>
#include <cstring>

#include "endpoint/base/transport_nak.h"

namespace mrclab::endpoint {

namespace {

SackTrigger trigger_of(const MrcPacket& packet, uint16_t timestamp) {
  return {packet.entropy_to_reflect(), timestamp, packet.outer.ecn() == kEcnCe};
}

uint16_t timestamp_of(const MrcPacket& packet) {
  const auto& write = std::get<WriteHeaders>(packet.extension);
  return write.tseth ? write.tseth->tx_timestamp : uint16_t{0};
}

}  // namespace

Responder::Responder(const TransportProfile& profile, const DirectionLimits& limits, Psn first_psn,
                     const MemoryRegistry& memory, ReceiveResources& resources,
                     ResponderEvents& events, HostStats& stats)
    : profile_(profile),
      limits_(limits),
      psns_(first_psn),
      memory_(memory),
      resources_(resources),
      events_(events),
      stats_(stats),
      window_(limits.max_psn_range),
      sacks_(profile.sack_threshold, profile.sack_base),
      ends_(size_t{limits.max_psn_range} * 2),
      messages_(profile.first_msn),
      immediates_(static_cast<uint16_t>(profile.first_msn)) {}

void Responder::ask_for_range(uint32_t units) { asked_range_ = units; }

/// Advertises the agreed range, but no more than the bitmaps that no queue pair holds.
void Responder::advertise_range() {
  if (!limits_.dynamic_mpr) return;
  uint32_t most = std::max(1u, limits_.max_psn_range / kMprUnit);
  if (resources_.bitmaps.bounded()) most = std::clamp(resources_.bitmaps.left(), 1u, most);
  sacks_.set_range_units(static_cast<uint8_t>(std::clamp(asked_range_, 1u, most)));
}

Seth Responder::sack(Sequence s, const SackTrigger& trigger) {
  advertise_range();
  return sacks_.make(window_, psns_, s, trigger);
}

Refusal Responder::on_write(const MrcPacket& packet, Replies& replies, uint64_t& placed) {
  const Sequence s = psns_.sequence(packet.bth.psn, window_.cumulative());
  if (packet.trimmed) return on_trimmed(packet, s, replies);
  const SackTrigger trigger = trigger_of(packet, timestamp_of(packet));
  switch (window_.classify(s)) {
    case ReceiveWindow::Position::kNew: break;
    case ReceiveWindow::Position::kDuplicate:
      replies.sack = sack(s, trigger);
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
  const MemoryRegistry::Target target = target_of(*write.reth, packet.payload_length);
  if (target.check != MemoryCheck::kOk) {
    ++stats_.memory_faults;
    put_nak_once(kNakRemoteAccess, s, packet, replies);
    return target.check == MemoryCheck::kBadRkey ? Refusal::kBadRkey : Refusal::kOutOfBounds;
  }
  if (const Refusal full = take_room(packet, s, replies); full != Refusal::kNone) return full;
  // A run without payload has none to place, and no memory to place it in.
  if (target.data != nullptr && !packet.cut) {
    std::memcpy(target.data, packet.payload.data(), packet.payload.size());
  } else if (target.access != nullptr) {
    target.write(packet.payload, is_last(packet.bth.opcode));
  }
  placed = packet.payload_length;
  const bool last = is_last(packet.bth.opcode);
  order_.arrived(s, {is_first(packet.bth.opcode), last, write.meth.msn, write.reth->dma_length,
                     static_cast<uint32_t>(placed)});
  window_.accept(s, last, write.reth->dma_length, write.immediate);
  const bool forced = packet.bth.ack_request || packet.bth.retransmission || trigger.ce_marked;
  const bool due = sacks_.on_packet(placed, forced);
  const bool whole = complete_messages(replies);
  resources_.bitmaps.hold(bitmaps_held_, bitmaps_needed());
  if (due) replies.sack = sack(s, trigger);
  return whole ? Refusal::kNone : Refusal::kBrokenMessage;
}

/// Of a write of no bytes neither key nor address is looked at (InfiniBand specification 9.7.4.1.4).
MemoryRegistry::Target Responder::target_of(const Reth& reth, size_t length) const {
  if (length == 0) return {.check = MemoryCheck::kOk};
  if (!allowed_.remote_write) return {};
  return memory_.resolve(reth.rkey, reth.va, length, Reach::kWrite, domain_);
}

/// Packets in order need no bitmap: one PSN acknowledges all of them.
Refusal Responder::take_room(const MrcPacket& packet, Sequence s, Replies& replies) {
  const Sequence first = window_.cumulative() + 1;
  const auto units = static_cast<uint32_t>((s - first) / kMprUnit + 1);
  if (s != first && units > bitmaps_held_ && !resources_.bitmaps.hold(bitmaps_held_, units)) {
    return refuse(NackReason::kNoBitmap, packet, s, replies);
  }
  // One packet completes no more messages than the range has packets, so there is room for the ends.
  const bool room = ends_.size() < limits_.max_psn_range;
  if (room && resources_.buffer.offer({packet.payload_length})) return Refusal::kNone;
  resources_.bitmaps.hold(bitmaps_held_, bitmaps_needed());
  return refuse(NackReason::kNoPacketBuffer, packet, s, replies);
}

/// Sends a SACK as well: it may be long until the next packet is taken, and packets taken before have to be
/// acknowledged.
Refusal Responder::refuse(NackReason reason, const MrcPacket& packet, Sequence s,
                          Replies& replies) {
  replies.nack = nack(reason, packet);
  sacks_.refused(s);
  replies.sack = sack(s, trigger_of(packet, timestamp_of(packet)));
  return reason == NackReason::kNoBitmap ? Refusal::kNoBitmap : Refusal::kNoPacketBuffer;
}

uint32_t Responder::bitmaps_needed() const {
  if (window_.out_of_order() == 0) return 0;
  return static_cast<uint32_t>((window_.highest() - window_.cumulative() - 1) / kMprUnit + 1);
}

void Responder::give_up_resources() {
  resources_.bitmaps.hold(bitmaps_held_, 0);
  while (!ends_.empty()) ends_.pop();
}

bool Responder::complete_messages(Replies& replies) {
  while (true) {
    const bool ended = window_.advance();
    while (order_.checked() < window_.cumulative()) {
      if (order_.check_next()) continue;
      put_nak(kNakInvalidRequest, order_.checked(), replies);
      replies.failure = failure_of(kNakInvalidRequest);
      return false;
    }
    if (!ended) return true;
    ends_.push({resources_.buffer.taken(), window_.cumulative(), window_.message_end()});
    if (!report_ends(replies)) return true;
  }
}

void Responder::on_memory(Replies& replies) { report_ends(replies); }

/// Reports the messages that are in memory, in order. False if one needs a receive and has none.
bool Responder::report_ends(Replies& replies) {
  while (!ends_.empty() && ends_.front().taken <= resources_.buffer.in_memory()) {
    const PendingEnd ended = ends_.pop();
    if (ended.end.immediate) {
      const std::optional<PostedReceive> receive = receives().take_receive();
      if (!receive) {
        put_nak(kNakRemoteOperation, ended.sequence, replies);
        replies.failure = "Write With Immediate Without Receive";
        return false;
      }
      ++immediates_;
      events_.immediate_received({receive->id, *ended.end.immediate, ended.end.bytes});
    }
    ++messages_;
    put_ack(replies);
  }
  return true;
}

/// RQMSN numbers the immediates, so an early one shows how many are in flight at least.
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
      replies.sack = sack(s, trigger_of(packet, timestamp_of(packet)));
      return Refusal::kDuplicate;
    case ReceiveWindow::Position::kAhead: return Refusal::kPsnOutOfWindow;
    case ReceiveWindow::Position::kFarPast: return Refusal::kPsnFarPast;
  }
  if (!limits_.trim_nack) return Refusal::kNone;  // the sender's timers have to find it
  const bool last_hop = profile_.dscps.is_trimmed_last_hop(packet.outer.dscp());
  replies.nack = nack(last_hop ? NackReason::kTrimmedLastHop : NackReason::kTrimmed, packet);
  return Refusal::kNone;
}

bool Responder::length_fits(const MrcPacket& packet, const Reth& reth) const {
  const size_t length = packet.payload_length;
  const bool only =
      packet.bth.opcode == Opcode::kWriteOnly || packet.bth.opcode == Opcode::kWriteOnlyImm;
  if ((length == 0 && !only) || length > profile_.pmtu) return false;
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
  advertise_range();
  replies.sack = sacks_.make_probe_answer(window_, psns_, peth.probe_id,
                                          trigger_of(packet, peth.tx_timestamp));
  // A transport ACK may have been lost, and nothing else would repeat it (our choice).
  if (window_.cumulative() >= 0) put_ack(replies);
}

Neth Responder::nack(NackReason reason, const MrcPacket& packet) const {
  Neth neth;
  neth.reason = static_cast<uint8_t>(reason);
  neth.entropy = packet.entropy_to_reflect();
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
/// A retransmitted packet gets another, because its sender has seen no answer.
void Responder::put_nak_once(uint8_t syndrome, Sequence s, const MrcPacket& packet,
                             Replies& replies) {
  if (nak_ && s > nak_->sequence && !packet.bth.retransmission) return;
  put_nak(syndrome, s, replies);
}

void Responder::on_probe_of_failed(Replies& replies) const {
  const SentNak again = nak_.value_or(
      SentNak{kNakRemoteOperation, std::max(window_.highest(), window_.cumulative())});
  if (again.sequence < 0) return;  // nothing ever came in, so no packet waits for an answer
  replies.nak = Aeth{again.syndrome, messages_ & 0xFF'FFFF};
  replies.nak_psn = psns_.psn(again.sequence);
}

/// Acknowledges everything up to the first message end that waits for memory.
void Responder::put_ack(Replies& replies) const {
  const Sequence in = ends_.empty() ? window_.cumulative() : ends_.front().sequence - 1;
  if (in < 0) return;
  replies.ack = Aeth{kAckSyndrome, messages_ & 0xFF'FFFF};
  replies.ack_psn = psns_.psn(in);
}

}  // namespace mrclab::endpoint
