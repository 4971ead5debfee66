// Which packets are lost, which value is to blame, and corrections of both.

#include <algorithm>

#include "endpoint/paths/ev_set.h"
#include "endpoint/queue_pair/requester.h"

namespace mrclab::endpoint {

void Requester::detect_losses(FabricTime now) {
  for (auto s = sent_.oldest_in_flight(); s && detector_.is_lost(sent_[*s].sent, now);
       s = sent_.oldest_in_flight()) {
    declare_lost(*s, "rack", now);
  }
}

void Requester::declare_lost(Sequence s, std::string_view cause, FabricTime now) {
  const SentPacket packet = sent_[s];
  leave_plane(s);
  sent_.declare_lost(s);
  ++stats_.losses_detected;
  events_.loss_detected(evs_.value(packet.ev), psns_.psn(s), cause);
  // A packet from before the value's resurrection tells nothing about it now, and a port that is
  // known to be down explains the loss.
  const bool connected = evs_.connected(packet.ev);
  // So the loss is no sign of congestion either (our choice).
  if (connected) {
    window_.on_lost({cost(packet.length), evs_.plane(packet.ev)}, now);
  } else {
    window_.on_withdrawn(cost(packet.length));
  }
  if (connected && packet.sent >= evs_.good_since(packet.ev)) {
    const bool dead = evidence_.is_dead_after_loss(packet.ev, packet.sent);
    if (dead || is_loss_enough(packet.ev, now)) assume_bad(packet.ev, now);
  }
}

/// One loss without a trim is enough to leave a path (MRC paper §2.1), as there are others to choose
/// from. Three cases need more, and all are told from a dead path by what else is heard of it:
///
/// The last path of a plane: to leave it costs the plane's whole share of the rate, to stay costs
/// what is lost and sent again. So it is left when it is dead: when several packets in a row are
/// lost and nothing that was sent after them has arrived. (That a link between NIC and T0 which is
/// only lossy stays in use is as published: MRC paper §4 leaves it to the controller.)
///
/// A destination to which most packets are trimmed just now: a queue that is full of trimmed headers
/// drops some of them (UEC 1.0.3 §4.1), which is silence on a path that works. (A header is a
/// twenty-eighth of a full packet, so where half of the packets pass there is room for all headers.)
///
/// A plane that loses alike on whatever path: then it is the NICs' own links that lose, no other path is
/// better, and to leave one only fills the others. It shows when half of the plane's other paths were left
/// for a loss of late and had been alive all the time (our choice).
bool Requester::is_loss_enough(uint32_t ev, FabricTime now) {
  const bool last = evs_.is_last_of_plane(ev);
  const bool trimming = evidence_.is_trimming(now, detector_.window(now) * 2);
  if (!last && trimming) evs_.congested(ev, now);
  return !last && !trimming && !plane_loses_alike(ev, now);
}

bool Requester::plane_loses_alike(uint32_t ev, FabricTime now) const {
  uint32_t others = 0, accused = 0;
  for (uint32_t i = 0; i < evs_.size(); ++i) {
    if (i == ev || evs_.plane(i) != evs_.plane(ev) || evs_.state(i) == EvState::kDenied) continue;
    ++others;
    if (prober_.was_falsely_accused(i, now)) ++accused;
  }
  return others > 0 && accused * 2 >= others;
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
  if (!certain || evidence_.is_newer_loss_known(ev, packet.lost_sent)) return;
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

void Requester::retransmit_trimmed(Sequence s, CongestionControl::TrimmedAt where, FabricTime now) {
  const Sprayed packet{cost(sent_[s].length), evs_.plane(sent_[s].ev)};
  leave_plane(s);
  sent_.mark_lost(s);
  window_.on_trimmed(packet, where, now);
}

/// The receiver lacks resources. Packets that are refused while the interval of a retry runs are part
/// of that retry, and go again together when it is over. The path is not to blame: it carried the
/// packet.
void Requester::back_off(Sequence s, FabricTime now) {
  const SentPacket packet = sent_[s];
  evidence_.hear(packet.ev, packet.sent);
  if (!retry_.is_backing_off(now)) {
    count_retry();
    if (failed_) return;
    retry_.begin_back_off(now);
  }
  leave_plane(s);
  sent_.mark_refused(s);
  window_.on_refused(cost(packet.length), now);
  if (!retry_.hold_refused(s)) sent_.mark_due(s);
}

/// A packet that is refused has one entry; one that was acknowledged meanwhile is gone from the table.
void Requester::release_refused(FabricTime now) {
  while (const auto s = retry_.release_refused(now)) {
    if (!sent_.contains(*s) || sent_[*s].state != SentPacket::State::kRefused) continue;
    sent_.mark_due(*s);
    retry_.note_news(now);  // another interval that runs beside it is no retry of its own
  }
}

}  // namespace mrclab::endpoint
