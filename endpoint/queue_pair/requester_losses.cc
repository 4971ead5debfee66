// Which packets are lost, which value is to blame, and corrections of both.

#include <algorithm>

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
  leave_plane(packet);
  sent_.declare_lost(s);
  ++stats_.losses_detected;
  events_.loss_detected(evs().value(packet.ev), psns_.psn(s), cause);
  // A port that is down explains the loss, which is then no sign of congestion either
  // (our choice).
  if (evs().connected(packet.ev)) {
    if (window_.heedless()) {
      window_.on_withdrawn(cost(packet.length));
    } else {
      window_.on_lost({cost(packet.length), evs().plane(packet.ev)}, now);
    }
    paths_.lose(packet.ev, packet.sent, detector_.window(now) * 2, now);
  } else {
    window_.on_withdrawn(cost(packet.length));
  }
}

/// A transmission that was declared lost had only been slow, so its retransmission was spurious
/// (Eifel, RFC 3522; here the reflected timestamp or an answer that comes too soon shows it). The
/// reorder window gets wider; and if nothing newer is held against its value, that path was alive:
/// it is GOOD again. `certain`: it was the transmission that was declared lost last.
void Requester::on_spurious_loss(Sequence s, bool certain, FabricTime now) {
  const DeclaredLoss loss = sent_.declared_loss(s);
  sent_.forget_declared(s);
  ++stats_.spurious_losses;
  detector_.on_spurious(now);
  if (certain) paths_.exonerate(loss.ev, loss.sent, now);
}

/// `s` is acknowledged, but not in a way that shows which transmission arrived.
void Requester::suspect_spurious_loss(Sequence s, const SentPacket& packet, FabricTime now) {
  if (packet.declared_lost == 0) return;
  const bool not_sent_again = packet.state == SentPacket::State::kLost;
  const bool too_soon = now - packet.sent < min_rtt_ / 4 * 3;
  if (not_sent_again || too_soon) on_spurious_loss(s, packet.declared_lost == 1, now);
}

void Requester::retransmit_trimmed(Sequence s, CongestionControl::TrimmedAt where, FabricTime now) {
  const Sprayed packet{cost(sent_[s].length), evs().plane(sent_[s].ev)};
  leave_plane(sent_[s]);
  sent_.mark_lost(s);
  if (window_.heedless()) return window_.on_withdrawn(packet.size);
  window_.on_trimmed(packet, where, now);
}

/// The receiver lacks resources. Packets that are refused while the interval of a retry runs are part
/// of that retry, and go again together when it is over. The path is not to blame: it carried the
/// packet.
void Requester::back_off(Sequence s, FabricTime now) {
  const SentPacket packet = sent_[s];
  paths_.note_delivery(packet.ev, packet.sent);
  if (!retry_.is_backing_off(now)) {
    count_retry();
    if (failed_) return;
    retry_.begin_back_off(now);
  }
  leave_plane(packet);
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
