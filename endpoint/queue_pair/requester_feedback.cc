// What SACKs, NACKs and transport ACKs do to a requester. Everything here may be forged: a packet
// is judged whole before it changes anything.

#include <algorithm>
#include <bit>

#include "endpoint/base/transport_nak.h"
#include "endpoint/queue_pair/requester.h"

namespace mrclab::endpoint {

Refusal Requester::on_sack(const Seth& seth, FabricTime now) {
  if (failed_) return Refusal::kQpInError;
  const Sequence cumulative = psns_.sequence(seth.cumulative, sent_.begin());
  if (acknowledges_unsent(seth, cumulative)) return Refusal::kSackOfFuture;
  const std::optional<uint32_t> ev = evs().find(seth.entropy);
  if (!ev) return Refusal::kUnknownEv;

  news_ = {};
  news_.marked = seth.mark != SackMark::kNone;
  news_.receiver_penalty = seth.receiver_penalty;
  news_.restore_cwnd = seth.restore_cwnd;
  if (!seth.probe_response) {
    if (seth.mark == SackMark::kNone) evs().answered_unmarked(*ev);
    if (seth.mark == SackMark::kSkipOnce) evs().congested(*ev, now, sent_at(seth, cumulative));
    if (seth.mark == SackMark::kAlwaysSkip && evs().connected(*ev)) {
      paths_.condemn(*ev, now);
    }
    on_trigger(seth, cumulative, now);
  }
  const bool cumulative_news = acknowledge_to(cumulative, now);
  const bool bitmap_news = absorb_bitmap(seth, cumulative, now);
  if (limits_.dynamic_mpr) range_.adopt(seth, cumulative);
  report_news(now);
  if (news_.rtt && window_.is_path_late(*news_.rtt, now))
    evs().congested(*ev, now, now - news_.rtt->rtt);
  if (cumulative_news || bitmap_news) retry_.note_progress(now);
  if (seth.probe_response) on_probe_answer(seth, cumulative, now);
  detect_losses(now);
  return Refusal::kNone;
}

void Requester::report_news(FabricTime now) {
  if (window_.heedless()) {
    news_.marked = false;
    news_.rtt.reset();
    news_.receiver_penalty = 0;
  }
  window_.on_acknowledged(news_, now);
}

bool Requester::acknowledges_unsent(const Seth& seth, Sequence cumulative) const {
  if (cumulative >= sent_.end()) return true;
  if (seth.bitmap == 0) return false;
  const Sequence highest = cumulative + seth.sack_offset + 63 - std::countl_zero(seth.bitmap);
  // A bit at or below the cumulative PSN adds nothing; above the newest packet it cannot be true.
  return highest >= sent_.end();
}

/// When the packet that triggered a SACK was last sent, if that is known.
std::optional<FabricTime> Requester::sent_at(const Seth& seth, Sequence cumulative) const {
  const Sequence trigger = cumulative + static_cast<int16_t>(seth.psn_offset_or_probe_id);
  return sent_.contains(trigger) ? std::optional(sent_[trigger].sent) : std::nullopt;
}

/// The packet that triggered a SACK: its timestamp identifies which transmission of it arrived, so even
/// a retransmission can serve the time rule.
void Requester::on_trigger(const Seth& seth, Sequence cumulative, FabricTime now) {
  const Sequence trigger = cumulative + static_cast<int16_t>(seth.psn_offset_or_probe_id);
  if (!sent_.contains(trigger)) return;
  const SentPacket packet = sent_[trigger];
  const auto service = service_time(seth.tx_timestamp, packet.sent, now);
  if (packet.declared_lost > 0) {
    // Where service times make it a possible answer to either transmission, it counts for the newest.
    const FabricTime lost = sent_.declared_loss(trigger).sent;
    const bool earlier = service ? tx_timestamp(lost) == seth.tx_timestamp
                                 : service_time(seth.tx_timestamp, lost, now).has_value();
    if (earlier) on_spurious_loss(trigger, true, now);
  }
  if (!service) return;
  paths_.note_delivery(packet.ev, packet.sent);
  // Whatever service time a peer reports, a round trip is never zero: it would be divided by.
  const FabricTime rtt = std::max(now - packet.sent - *service, kTimestampUnit);
  if (packet.transmissions == 1) {
    min_rtt_ = min_rtt_ == FabricTime::zero() ? rtt : std::min(min_rtt_, rtt);
  }
  // Out of order the trigger means that packets sent before it are lost, which only SACKs may show.
  const bool may_tell = profile_.selective_acks || trigger <= cumulative;
  if (packet.state == SentPacket::State::kInFlight && may_tell) detector_.on_arrived(packet.sent);
  // UEC §3.6.13 (after Karn): a round trip counts for a packet that was sent once, or twice if the
  // second one is answered. The send time is ours, so it is exact and cannot be made up; the
  // reflected timestamp only identifies which transmission it was.
  // With even shares any transmission counts: the timestamp identifies it, and a sender whose
  // first window was lost nearly whole has nothing else to go by.
  if (packet.transmissions <= 2 || profile_.nscc_rules == NsccRules::kEven) {
    news_.rtt = RttSample{rtt, packet.length == profile_.pmtu, evs().plane(packet.ev)};
  }
}

/// How long a packet sent at `sent` waited for its receiver's software, by the timestamp that came
/// back: zero unless SVC_TIME was agreed on. Empty if it belongs to another transmission.
std::optional<FabricTime> Requester::service_time(uint16_t reflected, FabricTime sent,
                                                  FabricTime now) const {
  const auto units = static_cast<uint16_t>(reflected - tx_timestamp(sent));
  const FabricTime time = kTimestampUnit * units;
  if (units != 0 && (!limits_.service_time || time > now - sent)) return std::nullopt;
  return time;
}

bool Requester::absorb_bitmap(const Seth& seth, Sequence cumulative, FabricTime now) {
  if (!profile_.selective_acks) return false;
  bool news = false;
  const Sequence base = cumulative + seth.sack_offset;
  for (uint64_t bits = seth.bitmap; bits != 0; bits &= bits - 1) {
    const Sequence s = base + std::countr_zero(bits);
    if (!sent_.contains(s) || sent_[s].state == SentPacket::State::kSacked) continue;
    acknowledge(s, now);
    news = true;
  }
  return news;
}

bool Requester::acknowledge_to(Sequence last, FabricTime now) {
  bool news = false;
  while (sent_.begin() <= last && sent_.size() > 0) {
    if (sent_[sent_.begin()].state != SentPacket::State::kSacked) {
      acknowledge(sent_.begin(), now);
    }
    sent_.release_oldest();
    news = true;
  }
  return news;
}

void Requester::acknowledge(Sequence s, FabricTime now) {
  const SentPacket& packet = sent_[s];
  suspect_spurious_loss(s, packet, now);
  if (packet.state == SentPacket::State::kInFlight) {
    // A retransmission's bitmap bit does not show which transmission arrived (Karn's rule).
    if (packet.transmissions == 1) {
      detector_.on_arrived(packet.sent);
      paths_.note_delivery(packet.ev, packet.sent);
    }
    news_.left_flight += cost(packet.length);
    leave_plane(packet);
  }
  news_.arrived += cost(packet.length);
  paths_.note_arrival();
  sent_.mark_sacked(s);
}

void Requester::on_probe_answer(const Seth& seth, Sequence cumulative, FabricTime now) {
  const uint16_t id = seth.psn_offset_or_probe_id;
  if (tail_.answered(id)) {
    if (!profile_.selective_acks) return;
    // The answer describes the 64 packets from its base; what it does not show there and was sent
    // well before the probe is lost. It does not cover packets further on.
    const Sequence base = cumulative + seth.sack_offset;
    for (Sequence s = std::max(base, sent_.begin()); s < base + 64 && s < sent_.end(); ++s) {
      if (sent_[s].state == SentPacket::State::kInFlight &&
          detector_.is_lost_by(sent_[s].sent, tail_.sent(), now)) {
        declare_lost(s, "probe", now);
      }
    }
    return;
  }
  if (!paths_.take_probe_answer(id, seth.mark == SackMark::kSkipOnce, now)) {
    ++stats_.refused[static_cast<size_t>(Refusal::kStaleFeedback)];
  }
}

Refusal Requester::on_nack(const Neth& neth, FabricTime now) {
  if (failed_) return Refusal::kQpInError;
  const Sequence s = psns_.sequence(neth.psn, sent_.begin());
  if (s >= sent_.end()) return Refusal::kNackOfUnsent;
  if (s < sent_.begin()) return Refusal::kStaleFeedback;
  const std::optional<uint32_t> ev = evs().find(neth.entropy);
  if (!ev) return Refusal::kUnknownEv;
  const SentPacket& packet = sent_[s];
  const bool current = packet.state == SentPacket::State::kInFlight && packet.ev == *ev &&
                       tx_timestamp(packet.sent) == neth.tx_timestamp;
  switch (static_cast<NackReason>(neth.reason)) {
    case NackReason::kTrimmed:
    case NackReason::kTrimmedLastHop:
      ++stats_.trim_nacks_received;
      // The last hop's queue is the receiver's affair: another path would meet it again.
      if (neth.reason == static_cast<uint8_t>(NackReason::kTrimmed))
        evs().congested(*ev, now, current ? std::optional(packet.sent) : std::nullopt);
      paths_.note_trim(now);
      if (!current) return on_late_nack(neth, s, *ev, now);
      paths_.note_delivery(*ev, packet.sent);
      retransmit_trimmed(s,
                         neth.reason == static_cast<uint8_t>(NackReason::kTrimmed)
                             ? CongestionControl::TrimmedAt::kFabric
                             : CongestionControl::TrimmedAt::kLastHop,
                         now);
      retry_.note_progress(now);
      return Refusal::kNone;
    case NackReason::kNoBitmap:
    case NackReason::kNoPacketBuffer:
    case NackReason::kNoResource:
    case NackReason::kPsnOutOfWindow:
      ++stats_.resource_nacks_received;
      if (!current) return on_late_nack(neth, s, *ev, now);
      back_off(s, now);
      return Refusal::kNone;
    case NackReason::kUnexpectedEvent:
      if (!current) return Refusal::kStaleFeedback;
      fail("Remote Operation Error", queue_.number_of_write(packet));
      return Refusal::kNone;
  }
  return Refusal::kMalformed;
}

/// A NACK of a transmission that is not the newest, or not in flight. If that transmission was held for lost, it
/// had only been slow: the path works.
Refusal Requester::on_late_nack(const Neth& neth, Sequence s, uint32_t ev, FabricTime now) {
  if (sent_[s].declared_lost == 0) return Refusal::kStaleFeedback;
  const DeclaredLoss loss = sent_.declared_loss(s);
  if (loss.ev != ev || tx_timestamp(loss.sent) != neth.tx_timestamp) {
    return Refusal::kStaleFeedback;
  }
  paths_.note_delivery(ev, loss.sent);
  on_spurious_loss(s, true, now);
  return Refusal::kNone;
}

Refusal Requester::on_ack(const Aeth& aeth, Psn psn, FabricTime now) {
  if (failed_) return Refusal::kQpInError;
  const Sequence last = psns_.sequence(psn, sent_.begin());
  if (last >= sent_.end()) return Refusal::kAckOfFuture;
  if (is_nak(aeth.syndrome)) {
    const std::optional<uint64_t> culprit = queue_.unfinished_write(last);
    if (!culprit) return Refusal::kStaleFeedback;
    fail(failure_of(aeth.syndrome), culprit);
    return Refusal::kNone;
  }
  if (!is_ack(aeth.syndrome)) return Refusal::kMalformed;
  const uint64_t completed_before = queue_.completed();
  news_ = {};
  const bool news = acknowledge_to(last, now);
  report_news(now);
  complete_to(last);
  if (news || queue_.completed() != completed_before) retry_.note_progress(now);
  detect_losses(now);
  return Refusal::kNone;
}

void Requester::complete_to(Sequence last) {
  while (const auto number = queue_.complete_next(last)) {
    ++stats_.writes_completed;
    events_.write_completed(queue_.id_of(*number));
  }
}

}  // namespace mrclab::endpoint
