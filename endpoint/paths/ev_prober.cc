#include "endpoint/paths/ev_prober.h"

#include <algorithm>
#include <bit>

namespace mrclab::endpoint {

EvProber::EvProber(const TransportProfile& profile, uint64_t seed, NodeId node, uint32_t qp)
    : profile_(profile), seed_(seed), node_(node), qp_(qp) {}

/// Most queue pairs never assume one of their values bad, and need no place for it.
EvProber::History& EvProber::history_of(uint32_t ev) {
  if (ev >= history_.size()) history_.resize(std::bit_ceil(size_t{ev} + 1));
  return history_[ev];
}

FabricTime EvProber::jittered(FabricTime interval) {
  const uint32_t jitter = profile_.probe_jitter_percent;
  if (jitter == 0) return interval;
  const uint64_t random =
      draw(seed_, node_, PortId{}, DrawPurpose::kProbeJitter, qp_ << 40 | draws_++);
  const auto percent = static_cast<int64_t>(100 - jitter + below(random, 2 * jitter + 1));
  return interval / 100 * percent;
}

void EvProber::assumed_bad(uint32_t ev, FabricTime now) {
  if (watches(ev)) return;
  History& history = history_of(ev);
  const bool again = history.last_failure != FabricTime::never() &&
                     now - history.last_failure < profile_.damping_window;
  const History before = history;
  history.needed = again ? std::min(history.needed * 2, profile_.revive_successes_max)
                         : profile_.revive_successes;
  history.last_failure = now;
  Bad bad;
  bad.ev = ev;
  bad.before = before;
  bad.interval = profile_.probe_interval;
  bad.due = now + jittered(bad.interval);
  bad_.push_back(bad);
}

void EvProber::forget(uint32_t ev) {
  std::erase_if(bad_, [ev](const Bad& bad) { return bad.ev == ev; });
}

void EvProber::exonerate(uint32_t ev) {
  for (const Bad& bad : bad_) {
    if (bad.ev == ev) history_of(ev) = bad.before;
  }
  forget(ev);
}

bool EvProber::watches(uint32_t ev) const {
  return std::any_of(bad_.begin(), bad_.end(), [ev](const Bad& bad) { return bad.ev == ev; });
}

bool EvProber::was_falsely_accused(uint32_t ev, FabricTime now) const {
  if (ev >= history_.size()) return false;
  const FabricTime at = history_[ev].false_accusation;
  return at != FabricTime::never() && now - at <= profile_.damping_window;
}

FabricTime EvProber::next_due() const {
  FabricTime next = FabricTime::never();
  for (const Bad& bad : bad_) next = std::min(next, bad.due);
  return next;
}

std::optional<uint32_t> EvProber::due(FabricTime now, uint16_t probe_id) {
  for (Bad& bad : bad_) {
    if (bad.due > now) continue;
    if (bad.awaiting) {
      bad.failed = true;
      bad.successes = 0;
      bad.interval = std::min(bad.interval * 3 / 2, profile_.probe_interval_max);
    }
    bad.awaiting = true;
    bad.sent = now;
    bad.probe_id = probe_id;
    bad.due = now + jittered(bad.interval);
    return bad.ev;
  }
  return std::nullopt;
}

EvProber::Answer EvProber::answered(uint16_t probe_id, FabricTime now, uint32_t& ev) {
  for (Bad& bad : bad_) {
    if (!bad.awaiting || bad.probe_id != probe_id) continue;
    ev = bad.ev;
    bad.awaiting = false;
    bad.interval =
        std::clamp((now - bad.sent) * 3 / 2, profile_.probe_interval, profile_.probe_interval_max);
    // `due` may be far away after many failures: an answer means that it pays to ask again soon.
    bad.due = std::min(bad.due, now + jittered(bad.interval));
    if (++bad.successes < history_of(bad.ev).needed) return Answer::kCounted;
    if (!bad.failed) history_of(ev).false_accusation = now;
    forget(ev);
    return Answer::kResurrect;
  }
  return Answer::kUnknown;
}

}  // namespace mrclab::endpoint
