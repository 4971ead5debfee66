#include "endpoint/roce/rc_responder.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "endpoint/base/transport_nak.h"

namespace mrclab::endpoint {
namespace {

/// A run without payload cuts it off.
bool has_payload(const MrcPacket& packet) {
  return packet.cut || packet.payload.size() == packet.payload_length;
}

}  // namespace

RcResponder::RcResponder(const RcParameters& parameters, Psn first_psn,
                         const MemoryRegistry& memory, RcResponderEvents& events, HostStats& stats)
    : parameters_(parameters),
      psns_(first_psn),
      memory_(memory),
      events_(events),
      stats_(stats),
      ahead_(parameters.recovery == RcRecovery::kPlacing
                 ? std::max<size_t>(parameters.window, kRcMostAhead)
                 : kRcMostAhead),
      answers_(parameters.reads_taken) {}

RcReply RcResponder::acknowledge() const {
  return {psns_.psn(expected_ - 1), {kAckSyndrome, messages_ & 0xFF'FFFF}};
}

/// A NAK or "receiver not ready" names the expected packet.
Refusal RcResponder::refuse(uint8_t syndrome, Refusal why, std::optional<RcReply>& reply) {
  reply = RcReply{psns_.psn(expected_), {syndrome, messages_ & 0xFF'FFFF}};
  nak_sent_ = true;
  return why;
}

/// The expected packet cannot be executed. All but "receiver not ready" ends both queue pairs (InfiniBand
/// specification 9.9.3.1: class C; so does rdma_rxe).
Refusal RcResponder::reject(Refusal why, std::optional<RcReply>& reply) {
  const bool ready = why != Refusal::kNotReady;
  if (!ready && parameters_.waits_for_receives) {
    return refuse(not_ready_syndrome(parameters_.rnr_code), why, reply);
  }
  const bool access = why == Refusal::kBadRkey || why == Refusal::kOutOfBounds;
  if (access) ++stats_.memory_faults;
  const uint8_t syndrome = !ready   ? kNakRemoteOperation
                           : access ? kNakRemoteAccess
                                    : kNakInvalidRequest;
  const std::string_view reason = !ready   ? "Write With Immediate Without Receive"
                                  : access ? "Local Access Violation"
                                           : "Local Invalid Request";
  refuse(syndrome, why, reply);
  if (answers_.empty()) {
    events_.request_refused(reason);
  } else {
    refusal_ = HeldRefusal{*reply, reason};
    reply.reset();
  }
  return why;
}

/// The SEND that comes in, or would begin, does not go to its receive.
Refusal RcResponder::blame_receive(uint8_t syndrome, std::string_view status,
                                   std::optional<RcReply>& reply) {
  if (!receive_) receive_ = receives().take_receive();
  if (receive_) events_.receive_failed(give_up_receive()->id, status);
  refuse(syndrome, Refusal::kBadLength, reply);
  events_.request_refused("Local Invalid Request");
  return Refusal::kBadLength;
}

Refusal RcResponder::on_request(const MrcPacket& packet, std::optional<RcReply>& reply,
                                uint64_t& placed) {
  if (refusal_) return Refusal::kQpInError;
  const Sequence s = psns_.sequence(packet.bth.psn, expected_);
  if (s < expected_) {
    if (s < 0) return Refusal::kPsnFarPast;
    if (is_rc_fetch(packet.bth.opcode)) return answer_again(packet, s, reply);
    reply = acknowledge();
    return Refusal::kDuplicate;
  }
  if (s > expected_) return on_ahead(packet, s, reply, placed);
  if (!ahead(s).present) return on_expected(packet, reply, placed);
  // It is in memory and has waited for a receive.
  take_what_waits(reply);
  return expected_ > s ? Refusal::kNone : Refusal::kNotReady;
}

Refusal RcResponder::on_expected(const MrcPacket& packet, std::optional<RcReply>& reply,
                                 uint64_t& placed) {
  const Opcode opcode = packet.bth.opcode;
  if (is_rc_fetch(opcode)) {
    const Refusal refusal = on_fetch(packet, reply);
    if (refusal == Refusal::kNone) take_what_waits(reply);
    return refusal;
  }
  Message message = current_;
  const Refusal wrong = check_expected(packet, message);
  if (wrong != Refusal::kNone && wrong != Refusal::kBadLength) {
    // The receive of a Write with Immediate to where the peer may not write (InfiniBand specification 11.6.2: Local
    // Access Error). The first packet of a longer message does not show that an immediate follows.
    const bool no_access = wrong == Refusal::kBadRkey || wrong == Refusal::kOutOfBounds;
    if (no_access && !is_send(opcode) && has_immediate(opcode)) {
      if (const auto taken = receives().take_receive()) {
        events_.receive_failed(taken->id, kNoAccess);
      }
    }
    return reject(wrong, reply);
  }
  if (is_send(opcode) && is_first(opcode)) {
    // Whose key is wrong has no length that a SEND could be too long for.
    const auto next = receives().next_receive();
    if (next && (next->broken || (next->access != nullptr && !next->access->registered()))) {
      return blame_receive(kNakRemoteOperation, kProtected, reply);
    }
  }
  if (wrong != Refusal::kNone) {
    return is_send(opcode) ? blame_receive(kNakInvalidRequest, kTooLong, reply)
                           : reject(wrong, reply);
  }
  if (is_send(opcode) && is_first(opcode)) receive_ = receives().take_receive();
  placed = place(packet, expected_, message);
  if (is_first(opcode)) placed += place_held(expected_, message);
  finish_packet(opcode, message, std::get<RcHeaders>(packet.extension).immediate,
                packet.bth.solicited);
  if (packet.bth.ack_request) reply = acknowledge();
  take_what_waits(reply);
  return Refusal::kNone;
}

/// All that must be so before the packet changes anything. `message` becomes the one that it is of.
Refusal RcResponder::check_expected(const MrcPacket& packet, Message& message) const {
  const Opcode opcode = packet.bth.opcode;
  if (is_first(opcode) == in_message_ || (in_message_ && is_send(opcode) != current_.send)) {
    return Refusal::kBrokenMessage;
  }
  if (is_first(opcode)) {
    const Refusal wrong = is_send(opcode) ? begin_send(expected_, message)
                                          : begin_message(packet, expected_, message);
    if (wrong != Refusal::kNone) return wrong;
  }
  if (message.send && is_last(opcode)) {
    // The length of a SEND comes with its end; until then it is the buffer's.
    const uint64_t end = offset_of(expected_, message) + packet.payload_length;
    if (end > message.length) return Refusal::kBadLength;
    message.last = expected_;
    message.length = static_cast<uint32_t>(end);
  }
  if (!has_payload(packet) || !fits(opcode, packet.payload_length, expected_, message)) {
    return Refusal::kBadLength;
  }
  // Its region may have gone since the message began.
  if (!is_reachable(expected_, packet.payload_length, message)) return Refusal::kBadRkey;
  return lacks_receive(opcode) ? Refusal::kNotReady : Refusal::kNone;
}

/// Does it use up a receive, and there is none?
bool RcResponder::lacks_receive(Opcode opcode) const {
  const bool takes = is_send(opcode) ? is_first(opcode) : is_last(opcode) && has_immediate(opcode);
  return takes && !receives().next_receive();
}

/// The expected packet is in memory: its message may be over.
void RcResponder::finish_packet(Opcode opcode, const Message& message,
                                std::optional<uint32_t> immediate, bool solicited) {
  current_ = message;
  in_message_ = !is_last(opcode);
  ahead(expected_).turned_away = false;
  ++expected_;
  nak_sent_ = false;
  if (in_message_) return;
  ++messages_;
  if (!immediate && !is_send(opcode)) return;
  const bool send = is_send(opcode);
  const std::optional<PostedReceive> receive = send ? give_up_receive() : receives().take_receive();
  events_.message_received({receive->id, immediate.value_or(0), message.length,
                            send ? WorkKind::kSend : WorkKind::kWrite, immediate.has_value(),
                            solicited});
}

/// A WRITE: where it goes is checked as a whole.
Refusal RcResponder::begin_message(const MrcPacket& packet, Sequence s, Message& message) const {
  const auto& headers = std::get<RcHeaders>(packet.extension);
  const Reth& reth = *headers.reth;
  Refusal why{};
  // Of no bytes neither key nor address is looked at (InfiniBand specification 9.7.4.1.4).
  if (reth.dma_length > 0 && !may_reach(reth.rkey, reth.va, reth.dma_length, Reach::kWrite, why)) {
    return why;
  }
  const uint64_t packets = (uint64_t{reth.dma_length} + parameters_.pmtu - 1) / parameters_.pmtu;
  const Sequence last = s + std::max<Sequence>(1, static_cast<Sequence>(packets)) - 1;
  message = {s, last, reth.va, reth.rkey, reth.dma_length, false};
  return Refusal::kNone;
}

MemoryRegistry::Target RcResponder::target_of(Sequence s, uint64_t length,
                                              const Message& message) const {
  return memory_.resolve(message.rkey, message.va + offset_of(s, message), length, Reach::kWrite,
                         domain_);
}

bool RcResponder::is_reachable(Sequence s, uint64_t length, const Message& message) const {
  return message.send || length == 0 || target_of(s, length, message).check == MemoryCheck::kOk;
}

/// A SEND goes to the buffer of the next receive.
Refusal RcResponder::begin_send(Sequence s, Message& message) const {
  const std::optional<PostedReceive> receive = receives().next_receive();
  if (!receive) return Refusal::kNotReady;
  const auto room = static_cast<uint32_t>(std::min<uint64_t>(receive->buffer.size(), 0xFFFF'FFFFu));
  const uint64_t packets = (uint64_t{room} + parameters_.pmtu - 1) / parameters_.pmtu;
  message = {s, s + static_cast<Sequence>(packets) - 1, 0, 0, room, true};
  return Refusal::kNone;
}

uint64_t RcResponder::offset_of(Sequence s, const Message& message) const {
  return static_cast<uint64_t>(s - message.first) * parameters_.pmtu;
}

/// Checks lengths against opcode and message; what fits lies inside the message's memory.
bool RcResponder::fits(Opcode opcode, uint64_t length, Sequence s, const Message& message) const {
  if (length == 0 && !(is_first(opcode) && is_last(opcode))) return false;
  if (length > parameters_.pmtu || !message.covers(s)) return false;
  const uint64_t end = offset_of(s, message) + length;
  if (is_last(opcode)) return end == message.length;
  // More of a SEND may follow even where its buffer is full: that packet will be refused.
  return length == parameters_.pmtu &&
         (message.send ? end <= message.length : end < message.length);
}

uint64_t RcResponder::place(const MrcPacket& packet, Sequence s, const Message& message) const {
  if (!packet.cut) put(s, packet.payload, message, is_last(packet.bth.opcode));
  return packet.payload_length;
}

/// A run without payload has none to put anywhere, and no memory for it.
void RcResponder::put(Sequence s, std::span<const uint8_t> bytes, const Message& message,
                      bool last) const {
  if (bytes.empty()) return;
  if (!message.send) return target_of(s, bytes.size(), message).write(bytes, last);
  const uint64_t offset = offset_of(s, message);
  if (receive_->access != nullptr) {
    receive_->access->write(offset, bytes, last);
  } else if (!receive_->buffer.elided()) {
    std::memcpy(receive_->buffer.data() + offset, bytes.data(), bytes.size());
  }
}

/// The message that a packet ahead is of, by what has arrived.
const RcResponder::Message* RcResponder::message_of(Sequence s) const {
  for (Sequence before = s - 1; before >= expected_; --before) {
    if (const Ahead& slot = ahead(before); slot.present && slot.held == 0) {
      return slot.message.covers(s) ? &slot.message : nullptr;
    }
  }
  return in_message_ && current_.covers(s) ? &current_ : nullptr;
}

Refusal RcResponder::on_ahead(const MrcPacket& packet, Sequence s, std::optional<RcReply>& reply,
                              uint64_t& placed) {
  const bool near = keeps_ahead() && s - expected_ < most_ahead();
  const auto gap = [&] {
    if (near) ahead(s).turned_away = true;
    // No sender of ours is further ahead: a NAK for such a packet would ask for packets that are only under way.
    if (s - expected_ < Sequence{parameters_.window}) highest_ = std::max(highest_, s);
    ask_for_missing(s, reply);
    return Refusal::kOutOfOrder;
  };
  const Opcode opcode = packet.bth.opcode;
  if (!near || is_send(opcode) || is_rc_fetch(opcode) || !has_payload(packet)) return gap();
  Ahead& slot = ahead(s);
  if (slot.present) return Refusal::kDuplicate;
  Message message;
  if (is_first(opcode)) {
    // What is wrong with it is reported when its turn comes.
    if (begin_message(packet, s, message) != Refusal::kNone) return gap();
  } else if (const Message* const known = message_of(s); known == nullptr) {
    if (!hold(packet, s)) return gap();
  } else if (known->send) {
    return gap();
  } else {
    message = *known;
  }
  if (slot.held == 0) {
    if (!fits(opcode, packet.payload_length, s, message) ||
        !is_reachable(s, packet.payload_length, message)) {
      return gap();
    }
    slot = {true,
            false,
            message,
            opcode,
            std::get<RcHeaders>(packet.extension).immediate,
            packet.bth.solicited,
            0,
            {}};
    placed = place(packet, s, message);
    if (is_first(opcode)) placed += place_held(s, message);
  }
  highest_ = std::max(highest_, s);
  ask_for_missing(highest_, reply);
  return Refusal::kNone;
}

/// Keeps the payload of a packet whose message has not begun here. False if there is no room for it.
bool RcResponder::hold(const MrcPacket& packet, Sequence s) {
  const size_t length = packet.payload_length;
  if (parameters_.recovery != RcRecovery::kPlacing || held_ == kMostHeld) return false;
  if (length == 0 || length > parameters_.pmtu) return false;
  ++held_;
  Ahead& slot = ahead(s);
  slot = {true,
          false,
          {},
          packet.bth.opcode,
          std::get<RcHeaders>(packet.extension).immediate,
          packet.bth.solicited,
          static_cast<uint32_t>(length),
          {}};
  if (!packet.cut) slot.bytes.assign(packet.payload.begin(), packet.payload.end());
  return true;
}

/// The packet `first` has brought the address of its message: so do those behind it that waited. Gives what is new in
/// memory. One that does not fit counts as not arrived: what is wrong with it is reported when its turn comes.
uint64_t RcResponder::place_held(Sequence first, const Message& message) {
  uint64_t placed = 0;
  if (held_ == 0 || message.send) return placed;
  for (Sequence s = first + 1; s <= std::min(message.last, highest_); ++s) {
    Ahead& slot = ahead(s);
    if (!slot.present || slot.held == 0) continue;
    --held_;
    if (!fits(slot.opcode, slot.held, s, message) || !is_reachable(s, slot.held, message)) {
      slot = {};
      continue;
    }
    put(s, slot.bytes, message, is_last(slot.opcode));
    placed += std::exchange(slot.held, 0);
    slot.message = message;
    slot.bytes = {};
  }
  return placed;
}

/// Packets that arrived ahead become the expected ones.
void RcResponder::take_what_waits(std::optional<RcReply>& reply) {
  while (highest_ >= expected_ && ahead(expected_).present) {
    Ahead& slot = ahead(expected_);
    const bool broken = slot.held > 0 || is_first(slot.opcode) == in_message_;
    const Refusal wrong = broken                       ? Refusal::kBrokenMessage
                          : lacks_receive(slot.opcode) ? Refusal::kNotReady
                                                       : Refusal::kNone;
    if (wrong != Refusal::kNone) {
      reject(wrong, reply);
      return;
    }
    slot.present = false;
    finish_packet(slot.opcode, slot.message, slot.immediate, slot.solicited);
    reply = acknowledge();  // the packets themselves may have asked long ago
  }
  if (highest_ >= expected_ && keeps_ahead()) {
    ask_for_missing(highest_, reply);
  }
}

/// Called when the packet `furthest` is under way, or here.
void RcResponder::ask_for_missing(Sequence furthest, std::optional<RcReply>& reply) {
  // A packet that was turned away does not come by itself.
  const bool patient = keeps_ahead() && furthest - expected_ < Sequence{parameters_.reorder} &&
                       !ahead(expected_).turned_away;
  if (nak_sent_ || patient) return;
  refuse(kNakSequence, Refusal::kOutOfOrder, reply);
}

}  // namespace mrclab::endpoint
