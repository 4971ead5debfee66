// What a requester does without feedback: timeouts, probes, ports that go down, and its end.

#include <algorithm>
#include <utility>

#include "endpoint/requester.h"

namespace mrclab::endpoint {

namespace {

/// `wait` doubled this often, but no further than to hours: 25 doublings of the API's longest
/// timeout would not fit into fabric time.
FabricTime backed_off(FabricTime wait, uint32_t doublings) {
  constexpr FabricTime kLongest = FabricTime::from_ms(3'600'000);
  for (; doublings > 0 && wait < kLongest; --doublings) wait = wait * 2;
  return wait;
}

}  // namespace

FabricTime Requester::timeout() const {
  // MRC API: linear retries at a fixed interval, then exponential ones.
  const uint32_t doublings =
      retries_ > retry_.linear_retries ? retries_ - retry_.linear_retries : 0;
  return backed_off(retry_.ack_timeout, doublings);
}

FabricTime Requester::timeout_deadline() const {
  if (!waiting() && !starved()) return FabricTime::never();
  if (const auto oldest = sent_.oldest_in_flight()) return sent_[*oldest].sent + timeout();
  if (!refused_.empty()) return FabricTime::never();  // their own interval runs
  // Nothing in flight: no path to send on, or only the transport ACK is missing.
  return std::max(last_news_, last_timeout_) + timeout();
}

FabricTime Requester::tail_deadline() const {
  if (!waiting() || tail_wanted_) return FabricTime::never();
  // Twice as long after each retry: a peer that is silent for ever is not asked for ever as often.
  // But once per timeout at least: a retry that asks nothing must not be counted as unanswered.
  const FabricTime slower = backed_off(profile_.tail_probe, retries_);
  const FabricTime interval = std::min(slower, std::max(profile_.tail_probe, timeout()));
  return std::max(last_news_, last_tail_) + interval;
}

/// When the window by itself lets the next packet go. Packets that wait for a port need no timer.
FabricTime Requester::paced_deadline(FabricTime now) const {
  uint32_t length = 0;
  if (const auto lost = sent_.first_lost(); lost && *lost < range_end()) {
    length = sent_[*lost].length;
  } else if (has_new_data()) {
    length = next_length();
  }
  if (length == 0) return FabricTime::never();
  const FabricTime at = window_.opens_at(cost(length));
  return at > now ? at : FabricTime::never();
}

FabricTime Requester::deadline(FabricTime now) const {
  if (failed_) return FabricTime::never();
  const FabricTime again = refused_.empty() ? FabricTime::never() : refused_.front().due;
  return std::min(
      {timeout_deadline(), tail_deadline(), prober_.next_due(), paced_deadline(now), again});
}

void Requester::on_timer(FabricTime now) {
  if (failed_) return;
  release_refused(now);
  if (timeout_deadline() <= now) {
    const FabricTime limit = timeout();
    for (auto s = sent_.oldest_in_flight(); s && sent_[*s].sent + limit <= now;
         s = sent_.oldest_in_flight()) {
      declare_lost(*s, "timeout", now);
    }
    ++stats_.timeouts;
    // Packets sent at about the same time expire one after the other; that is one retry.
    if (retries_ == 0 || now - last_timeout_ >= limit) {
      last_timeout_ = now;
      count_retry();
      if (failed_) return;
    }
  }
  if (tail_deadline() <= now) {
    tail_wanted_ = true;
    last_tail_ = now;
  }
}

std::optional<ProbePacket> Requester::next_probe(FabricTime now) {
  if (failed_) return std::nullopt;
  if (std::exchange(tail_wanted_, false)) {
    // The probe goes on another value than the one that is silent.
    const auto oldest = sent_.oldest_in_flight();
    const auto ev = oldest ? evs_.choose(~0u, now, sent_[*oldest].ev) : evs_.choose(~0u, now);
    if (ev) {
      tail_probe_id_ = new_probe_id();
      tail_sent_ = now;
      return ProbePacket{evs_.value(*ev), evs_.plane(*ev), tail_probe_id_};
    }
  }
  const uint16_t id = new_probe_id();
  if (const auto ev = prober_.due(now, id)) {
    return ProbePacket{evs_.value(*ev), evs_.plane(*ev), id};
  }
  return std::nullopt;
}

uint16_t Requester::new_probe_id() {
  if (++last_probe_id_ == kNoProbe) ++last_probe_id_;
  return last_probe_id_;
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
    evidence_[ev].held_against = {};
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
  for (; completed_ < posted_; ++completed_) {
    events_.write_failed(message(completed_).request.id, completed_ == culprit ? reason : kFlushed);
  }
  started_ = completed_;
  events_.failed(reason);
}

void Requester::count_retry() {
  if (++retries_ > retry_.limit() && !retry_.for_ever()) {
    fail("Retry Counter Exceeded", completed_);
  }
}

void Requester::progress(FabricTime now) {
  retries_ = 0;
  last_news_ = now;
}

}  // namespace mrclab::endpoint
