#include "endpoint/roce/rc_requester.h"

#include <algorithm>

#include "endpoint/base/transport_nak.h"
#include "endpoint/roce/rnr_time.h"
#include "fabric/packet/header_sizes.h"

namespace mrclab::endpoint {

Bytes RcRequester::wire_bytes(const RcPacket& packet) {
  const uint64_t padded = (packet.payload.size() + 3) / 4 * 4;
  return wire_length({layout_of(Encapsulation::kIpv6).after_bth +
                      extension_size(packet.opcode, packet.extension) + padded + kIcrcBytes});
}

RcRequester::RcRequester(const RcParameters& parameters, Psn first_psn, RcRequesterEvents& events,
                         HostStats& stats)
    : parameters_(parameters),
      psns_(first_psn),
      events_(events),
      stats_(stats),
      messages_(parameters.pmtu) {
  if (parameters.dcqcn) limiter_.emplace(*parameters.dcqcn, parameters.line);
}

void RcRequester::start(const RcParameters& parameters, Psn first_psn) {
  parameters_ = parameters;
  psns_ = PsnSpace(first_psn);
}

bool RcRequester::sendable() const {
  if (failed_) return false;
  if (!again_.empty()) return true;
  return next_ < messages_.end() && next_ - acknowledged_ < window() && !doom_ &&
         messages_.may_start(next_, parameters_.reads);
}

/// While a packet is missing, a selective receiver drops what is too far behind it, and each dropped packet is missing
/// in turn: a sender that sends more than the receiver keeps would never finish.
uint32_t RcRequester::window() const {
  const bool repairs = parameters_.recovery == RcRecovery::kSelective && nak_seen_;
  return repairs ? std::min(parameters_.window, kRcMostAhead) : parameters_.window;
}

FabricTime RcRequester::may_start() const {
  return limiter_ ? std::max(not_before_, limiter_->earliest_start()) : not_before_;
}

/// Asks for an ACK: the last packet of a message, one of every so many, the last one that the window allows, and one
/// after a quarter of the timeout without asking, or a slow sender would run into the timeout (our choice).
bool RcRequester::asks(Sequence s, bool last_of_message, FabricTime now) {
  const bool due = last_of_message || (s + 1) % parameters_.ack_every == 0 ||
                   s - acknowledged_ + 1 >= window() ||
                   now - asked_ >= parameters_.times.first() / 4;
  if (due) asked_ = now;
  return due;
}

std::optional<RcPacket> RcRequester::next_packet(FabricTime now) {
  if (!ready(now)) return std::nullopt;
  const bool repairs = !again_.empty();
  const Sequence s = repairs ? again_.from : next_;
  const RcMessages::PacketView view = messages_.view(s);
  if (s == acknowledged_) progress_ = now;
  RcPacket packet;
  packet.opcode = view.opcode;
  packet.psn = psns_.psn(s);
  packet.payload = view.payload;
  packet.extension = view.extension;
  packet.solicited = view.solicited;
  packet.ack_request = asks(s, view.last, now) || repairs;
  ++(s < sent_end_ ? stats_.retransmissions : stats_.data_packets_sent);
  (repairs ? again_.from : next_) = view.end;
  sent_end_ = std::max(sent_end_, view.end);
  if (limiter_) limiter_->on_sent(wire_bytes(packet), now);
  return packet;
}

/// Everything before `s` has arrived.
void RcRequester::cover_before(Sequence s, FabricTime now) {
  if (s > covered_) covered_ = s;
  advance(now);
}

/// Is there progress?
bool RcRequester::advance(FabricTime now) {
  const Sequence s = messages_.answered_to(covered_);
  if (s <= acknowledged_) return false;
  acknowledged_ = s;
  next_ = std::max(next_, s);
  again_.from = std::max(again_.from, s);
  nak_seen_.reset();
  timeouts_ = not_ready_ = 0;
  progress_ = now;
  while (const std::optional<uint64_t> done = messages_.complete_next(acknowledged_)) {
    ++stats_.writes_completed;
    events_.work_completed(*done);
  }
  if (doom_ && doom_->at <= acknowledged_) fail_because(doom_->reason, doom_->at);
  return true;
}

/// Once for each packet, until there is progress or a timeout.
void RcRequester::ask_again(Sequence missing, FabricTime now) {
  if (nak_seen_ == missing || waits_to_go(missing)) return;
  nak_seen_ = missing;
  send_again_from(missing, "gap", now);
}

Refusal RcRequester::on_response(const MrcPacket& packet, FabricTime now) {
  const Sequence s = psns_.sequence(packet.bth.psn, acknowledged_);
  if (s >= sent_end_) return Refusal::kAckOfFuture;
  if (s < acknowledged_) return Refusal::kStaleFeedback;
  if (!messages_.wants_answer(s)) return Refusal::kMalformed;
  const bool fetched = std::holds_alternative<RcResponse>(packet.extension);
  if (!fetched) return Refusal::kMalformed;
  const Sequence wanted = messages_.answered_to(s + 1);
  if (s < wanted) return Refusal::kStaleFeedback;
  if (s > wanted) {
    cover_before(s, now);  // its request came after all that
    ask_again(wanted, now);
    return Refusal::kOutOfOrder;
  }
  if (!messages_.take_answer(s, packet)) return Refusal::kBadLength;
  cover_before(s + 1, now);
  return Refusal::kNone;
}

void RcRequester::send_again_from(Sequence s, std::string_view cause, FabricTime now) {
  ++stats_.losses_detected;
  events_.loss_detected(psns_.psn(s), cause);
  progress_ = now;
  if (parameters_.recovery != RcRecovery::kGoBackN && cause == "nak" &&
      !messages_.wants_answer(s)) {
    repair_from(s);
  } else {
    again_ = repair_ = {};
    next_ = s;
  }
}

void RcRequester::repair_from(Sequence s) {
  const bool burst = s == repair_.end && !repair_.empty();
  const Sequence count = burst ? std::min<Sequence>(repair_.count() * 2, kRcMostAhead) : 1;
  if (parameters_.recovery == RcRecovery::kSelective) {
    next_ = std::min(next_, s + kRcMostAhead);  // what was further ahead is not there
  }
  again_ = repair_ = {s, std::min(s + count, next_)};
}

Refusal RcRequester::on_acknowledge(const Aeth& aeth, Psn psn, FabricTime now) {
  const Sequence s = psns_.sequence(psn, acknowledged_);
  if (s >= sent_end_) return Refusal::kAckOfFuture;
  if (doom_) return Refusal::kStaleFeedback;
  const bool known = is_ack(aeth.syndrome) || is_not_ready(aeth.syndrome) || is_nak(aeth.syndrome);
  if (!known) return Refusal::kMalformed;
  if (is_ack(aeth.syndrome)) {
    if (s < acknowledged_) return Refusal::kStaleFeedback;
    cover_before(s + 1, now);
    return Refusal::kNone;
  }
  if (s < acknowledged_) return Refusal::kStaleFeedback;
  const bool progress = s > acknowledged_;
  cover_before(s, now);
  if (is_not_ready(aeth.syndrome)) return on_not_ready(aeth.syndrome, s, now);
  if (failed_) return Refusal::kNone;
  if (aeth.syndrome != kNakSequence) {
    const bool timed = parameters_.times.first() != FabricTime::never();
    if (acknowledged_ < s && timed) {
      doom_ = Doom{s, failure_of(aeth.syndrome)};
    } else {
      fail_because(failure_of(aeth.syndrome), s);
    }
    return Refusal::kNone;
  }
  ++stats_.sequence_naks_received;
  // A packet that waits for retransmission needs no second reason, and neither does one that was just retransmitted
  // with those before it: the receiver asks for each in turn as they arrive.
  if (nak_seen_ == s || waits_to_go(s) || (repair_.from < s && s < repair_.end)) {
    return progress ? Refusal::kNone : Refusal::kStaleFeedback;
  }
  nak_seen_ = s;
  send_again_from(s, "nak", now);
  return Refusal::kNone;
}

Refusal RcRequester::on_not_ready(uint8_t syndrome, Sequence s, FabricTime now) {
  if (not_before_ > now) return Refusal::kStaleFeedback;  // the same answer again
  if (parameters_.rnr_retries < kRnrForEver && not_ready_++ >= parameters_.rnr_retries) {
    fail_because("RNR Retry Counter Exceeded", s);
    return Refusal::kNone;
  }
  not_before_ = now + rnr_time(syndrome);
  send_again_from(s, "rnr", now);
  return Refusal::kNone;
}

void RcRequester::on_cnp(FabricTime now) {
  ++stats_.cnps_received;
  if (limiter_) limiter_->on_cnp(now);
}

/// The timer does not run while the oldest packet may not be retransmitted yet.
FabricTime RcRequester::timeout_at() const {
  if (failed_ || !in_flight()) return FabricTime::never();
  const FabricTime timeout = parameters_.times.after(timeouts_);
  if (timeout == FabricTime::never()) return timeout;
  const FabricTime since =
      waits_to_go(acknowledged_) ? std::max(progress_, may_start()) : progress_;
  return since + timeout;
}

FabricTime RcRequester::deadline(FabricTime now) const {
  FabricTime at = timeout_at();
  if (sendable() && may_start() > now) at = std::min(at, may_start());
  return at;
}

void RcRequester::on_timer(FabricTime now) {
  if (timeout_at() > now) return;
  ++stats_.timeouts;
  if (doom_) return fail_because(doom_->reason, doom_->at);
  if (timeouts_++ >= parameters_.times.most(parameters_.retries)) {
    fail_because("Retry Counter Exceeded", acknowledged_);
    return;
  }
  nak_seen_.reset();
  send_again_from(acknowledged_, "timeout", now);
}

void RcRequester::fail_because(std::string_view reason, std::optional<Sequence> culprit) {
  if (failed_) return;
  failed_ = true;
  again_ = {};
  while (!messages_.empty()) {
    const bool guilty = culprit && messages_.oldest_covers(*culprit);
    events_.work_failed(messages_.give_up_oldest(), guilty ? reason : kFlushed);
  }
  events_.failed(reason);
}

void RcRequester::fail_oldest(std::string_view reason) {
  if (!failed_ && !messages_.empty()) events_.work_failed(messages_.give_up_oldest(), reason);
  fail_because(reason, std::nullopt);
}

}  // namespace mrclab::endpoint
