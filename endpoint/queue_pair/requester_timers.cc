// What a requester does without feedback: timeouts, probes, ports that go down, and its end.

#include <algorithm>
#include <utility>

#include "endpoint/paths/ev_set.h"
#include "endpoint/queue_pair/requester.h"

namespace mrclab::endpoint {

FabricTime Requester::timeout_deadline() const {
  if (!waiting() && !starved()) return FabricTime::never();
  if (const auto oldest = sent_.oldest_in_flight()) return sent_[*oldest].sent + retry_.timeout();
  if (retry_.holds_refused()) return FabricTime::never();  // their own interval runs
  // Nothing in flight: no path to send on, or only the transport ACK is missing.
  return retry_.idle_deadline();
}

FabricTime Requester::tail_deadline() const {
  if (!waiting() || tail_.is_wanted()) return FabricTime::never();
  return std::max(retry_.last_news(), tail_.last()) + retry_.tail_interval(profile_.tail_probe);
}

/// When the window by itself lets the next packet go. Packets that wait for a port need no timer.
FabricTime Requester::paced_deadline(FabricTime now) const {
  uint32_t length = 0;
  if (const auto lost = sent_.first_lost(); lost && *lost < range_end()) {
    length = sent_[*lost].length;
  } else if (has_new_data()) {
    length = queue_.next_length();
  }
  if (length == 0) return FabricTime::never();
  const FabricTime at = window_.opens_at(cost(length));
  return at > now ? at : FabricTime::never();
}

FabricTime Requester::deadline(FabricTime now) const {
  if (failed_) return FabricTime::never();
  return std::min({timeout_deadline(), tail_deadline(), prober_.next_due(), paced_deadline(now),
                   retry_.refused_due()});
}

void Requester::on_timer(FabricTime now) {
  if (failed_) return;
  release_refused(now);
  if (timeout_deadline() <= now) {
    const FabricTime limit = retry_.timeout();
    for (auto s = sent_.oldest_in_flight(); s && sent_[*s].sent + limit <= now;
         s = sent_.oldest_in_flight()) {
      declare_lost(*s, "timeout", now);
    }
    ++stats_.timeouts;
    if (retry_.begins_retry(limit, now)) {
      count_retry();
      if (failed_) return;
    }
  }
  if (tail_deadline() <= now) tail_.want(now);
}

std::optional<ProbePacket> Requester::next_probe(FabricTime now) {
  if (failed_) return std::nullopt;
  if (tail_.take_wanted()) {
    // On another value than the one that is silent.
    const auto oldest = sent_.oldest_in_flight();
    const auto ev = oldest ? evs_.choose(~0u, now, sent_[*oldest].ev) : evs_.choose(~0u, now);
    if (ev) return ProbePacket{evs_.value(*ev), evs_.plane(*ev), tail_.send(now)};
  }
  const uint16_t id = tail_.new_probe_id();
  if (const auto ev = prober_.due(now, id)) {
    return ProbePacket{evs_.value(*ev), evs_.plane(*ev), id};
  }
  return std::nullopt;
}

void Requester::set_live_ports(LivePorts live, FabricTime now) {
  const uint32_t before = evs_.unusable();
  evs_.set_live_ports(live, now);
  const uint32_t after = evs_.unusable();
  if (after > before) stats_.evs_lost += after - before;
  if (after < before) stats_.evs_regained += before - after;
  // A path between ports of which one is down needs no probes; one that is back starts GOOD.
  for (uint32_t ev = 0; ev < evs_.size(); ++ev) {
    if (evs_.connected(ev) && evs_.state(ev) == EvState::kAssumedBad) continue;
    prober_.forget(ev);
    evidence_.forget_losses(ev);
  }
  tell_swaps();
}

void Requester::set_denied(EntropyValue value, bool denied, FabricTime now) {
  const std::optional<uint32_t> ev = evs_.find(value);
  if (!ev || (evs_.state(*ev) == EvState::kDenied) == denied) return;
  if (denied) {
    evs_.deny(*ev, now);
    prober_.forget(*ev);
  } else {
    evs_.allow(*ev, now);
  }
  tell_ev_change(*ev, evs_.state(*ev));
}

void Requester::tell_ev_change(uint32_t ev, EvState to) {
  events_.ev_changed(evs_.value(ev), to);
  tell_swaps();
}

void Requester::tell_swaps() {
  for (const EvSet::Swap swap : evs_.take_swaps()) {
    events_.ev_swapped(evs_.value(swap.in), evs_.value(swap.out));
  }
}

void Requester::fail(std::string_view reason, std::optional<uint64_t> culprit) {
  if (failed_) return;
  failed_ = true;
  // What is in flight no longer counts in the destination's window.
  while (const auto s = sent_.oldest_in_flight()) {
    window_.on_withdrawn(cost(sent_[*s].length));
    leave_plane(*s);
    sent_.mark_lost(*s);
  }
  while (const auto number = queue_.give_up_next()) {
    events_.write_failed(queue_.id_of(*number), number == culprit ? reason : kFlushed);
  }
  events_.failed(reason);
}

void Requester::count_retry() {
  if (!retry_.count_retry()) fail("Retry Counter Exceeded", queue_.completed());
}

}  // namespace mrclab::endpoint
