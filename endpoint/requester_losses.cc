// What is lost, which value is to blame, and second thoughts about both.

#include <algorithm>

#include "endpoint/requester.h"

namespace mrclab::endpoint {

void Requester::detect_losses(FabricTime now) {
  for (auto s = sent_.oldest_in_flight(); s && detector_.is_lost(sent_[*s].sent, now);
       s = sent_.oldest_in_flight()) {
    declare_lost(*s, "rack", now);
  }
}

void Requester::declare_lost(Sequence s, std::string_view cause, FabricTime now) {
  const SentPacket packet = sent_[s];
  sent_.declare_lost(s);
  ++stats_.losses_detected;
  events_.loss_detected(evs_.value(packet.ev), psns_.psn(s), cause);
  // A packet from before the value's resurrection tells nothing about it now, and a port that is
  // known to be down explains the loss.
  const bool connected = evs_.connected(packet.ev);
  // So it is no sign of congestion either (our choice).
  if (connected) {
    window_.on_lost(cost(packet.length), now);
  } else {
    window_.on_withdrawn(cost(packet.length));
  }
  if (connected && packet.sent >= evs_.good_since(packet.ev)) {
    held_against_[packet.ev] = std::max(held_against_[packet.ev], packet.sent);
    assume_bad(packet.ev, now);
  }
}

/// A transmission that was declared lost had only been slow, so its retransmission was spurious
/// (Eifel, RFC 3522; here the reflected timestamp or an answer that comes too soon shows it). The
/// reorder window gets wider; and if nothing newer is held against its value, that path was alive:
/// it is GOOD again. `certain`: it was the transmission that was declared lost last.
void Requester::on_spurious_loss(Sequence s, bool certain, FabricTime now) {
  const SentPacket packet = sent_[s];
  sent_.forget_declared(s);
  ++stats_.spurious_losses;
  detector_.on_spurious(now);
  const uint32_t ev = packet.lost_ev;
  if (!certain || packet.lost_sent < held_against_[ev]) return;
  if (packet.lost_sent < evs_.good_since(ev) || evs_.state(ev) != EvState::kAssumedBad) return;
  prober_.exonerate(ev);
  evs_.revived(ev, false, now);
  ++stats_.evs_regained;
  tell_ev_change(ev, EvState::kGood);
}

/// `s` is acknowledged, but not in a way that says which transmission arrived.
void Requester::suspect_spurious_loss(Sequence s, FabricTime now) {
  const SentPacket& packet = sent_[s];
  if (packet.declared_lost == 0) return;
  const bool not_sent_again = packet.state == SentPacket::State::kLost;
  const bool too_soon = now - packet.sent < min_rtt_ / 4 * 3;
  if (not_sent_again || too_soon) on_spurious_loss(s, packet.declared_lost == 1, now);
}

void Requester::assume_bad(uint32_t ev, FabricTime now) {
  if (evs_.lost(ev, now) != EvSet::LossVerdict::kAssumedBad) return;
  ++stats_.evs_lost;
  if (profile_.ev_probes) prober_.assumed_bad(ev, now);
  tell_ev_change(ev, EvState::kAssumedBad);
}

void Requester::retransmit_without_blame(Sequence s, bool trimmed, FabricTime now) {
  const Bytes size = cost(sent_[s].length);
  sent_.mark_lost(s);
  if (trimmed) {
    window_.on_trimmed(size, now);
  } else {
    window_.on_withdrawn(size);
  }
}

}  // namespace mrclab::endpoint
