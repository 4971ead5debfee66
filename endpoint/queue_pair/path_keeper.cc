#include "endpoint/queue_pair/path_keeper.h"

namespace mrclab::endpoint {

/// A packet from before the value's resurrection is no sign of it now.
void PathKeeper::lose(uint32_t ev, FabricTime sent, FabricTime recent, FabricTime now) {
  evs().note_loss(ev, now);
  if (sent < evs().good_since(ev)) return;
  const bool dead = evidence_.is_dead_after_loss(ev, sent);
  if (dead || !guards_ || is_loss_enough(ev, recent, now)) assume_bad(ev, now);
}

bool PathKeeper::is_loss_enough(uint32_t ev, FabricTime recent, FabricTime now) {
  const bool last = evs().is_last_of_plane(ev);
  const bool trimming = evidence_.is_trimming(now, recent);
  if (!last && trimming) evs().congested(ev, now);
  return !last && !trimming && !plane_loses_alike(ev, now);
}

bool PathKeeper::plane_loses_alike(uint32_t ev, FabricTime now) const {
  uint32_t others = 0, accused = 0;
  for (uint32_t i = 0; i < evs().size(); ++i) {
    if (i == ev || evs().plane(i) != evs().plane(ev) || evs().state(i) == EvState::kDenied)
      continue;
    ++others;
    if (prober_.was_falsely_accused(i, now)) ++accused;
  }
  return others > 0 && accused * 2 >= others;
}

void PathKeeper::exonerate(uint32_t ev, FabricTime lost_sent, FabricTime now) {
  if (evidence_.is_newer_loss_known(ev, lost_sent)) return;
  if (lost_sent < evs().good_since(ev) || evs().state(ev) != EvState::kAssumedBad) return;
  prober_.exonerate(ev);
  evs().revived(ev, false, now);
  ++stats_.evs_regained;
  tell_ev_change(ev, EvState::kGood);
}

void PathKeeper::condemn(uint32_t ev, FabricTime now) {
  evidence_.condemn(ev);
  assume_bad(ev, now);
}

void PathKeeper::assume_bad(uint32_t ev, FabricTime now) {
  if (evs().lost(ev, now) != EvSet::LossVerdict::kAssumedBad) return;
  ++stats_.evs_lost;
  if (probes_) prober_.assumed_bad(ev, now);
  tell_ev_change(ev, EvState::kAssumedBad);
}

bool PathKeeper::take_probe_answer(uint16_t id, bool marked, FabricTime now) {
  uint32_t ev = 0;
  const EvProber::Answer answer = prober_.answered(id, now, ev);
  if (answer != EvProber::Answer::kResurrect) return answer == EvProber::Answer::kCounted;
  evs().revived(ev, marked, now);
  evidence_.forget_losses(ev);
  ++stats_.evs_regained;
  tell_ev_change(ev, EvState::kGood);
  return true;
}

void PathKeeper::set_live_ports(LivePorts live, FabricTime now) {
  const uint32_t before = evs().unusable();
  evs().set_live_ports(live, now);
  const uint32_t after = evs().unusable();
  if (after > before) stats_.evs_lost += after - before;
  if (after < before) stats_.evs_regained += before - after;
  // A path between ports of which one is down needs no probes; one that is back starts GOOD.
  for (uint32_t ev = 0; ev < evs().size(); ++ev) {
    if (evs().connected(ev) && evs().state(ev) == EvState::kAssumedBad) continue;
    prober_.forget(ev);
    evidence_.forget_losses(ev);
  }
  tell_swaps();
}

void PathKeeper::set_denied(EntropyValue value, bool denied, FabricTime now) {
  const std::optional<uint32_t> ev = evs().find(value);
  if (!ev || (evs().state(*ev) == EvState::kDenied) == denied) return;
  if (denied) {
    evs().deny(*ev, now);
    prober_.forget(*ev);
  } else {
    evs().allow(*ev, now);
  }
  tell_ev_change(*ev, evs().state(*ev));
}

void PathKeeper::tell_ev_change(uint32_t ev, EvState to) {
  events_.ev_changed(evs().value(ev), to);
  tell_swaps();
}

void PathKeeper::tell_swaps() {
  for (const EvSet::Swap swap : evs().take_swaps()) {
    events_.ev_swapped(evs().value(swap.in), evs().value(swap.out));
  }
}

}  // namespace mrclab::endpoint
