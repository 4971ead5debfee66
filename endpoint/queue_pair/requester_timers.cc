// What a requester does without feedback: timeouts, probes, ports that go down, and its end.

#include <algorithm>
#include <utility>

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
  if (!waiting() || tail_.is_requested()) return FabricTime::never();
  return std::max(retry_.last_news(), tail_.last()) + retry_.tail_interval(profile_.tail_probe);
}

/// When the window by itself lets the next packet go. Packets that wait for a port need no timer.
FabricTime Requester::paced_deadline(FabricTime now) const {
  if (!window_.is_paced()) return FabricTime::never();
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
  const FabricTime elsewhere = std::min(paths_.next_probe_due(), retry_.refused_due());
  // Nothing to send and nothing under way, as in a queue pair that only receives.
  if (sent_.size() == 0 && queue_.completed() == queue_.posted()) return elsewhere;
  return std::min({timeout_deadline(), tail_deadline(), paced_deadline(now), elsewhere});
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
  if (tail_deadline() <= now) tail_.request(now);
}

std::optional<ProbePacket> Requester::next_probe(FabricTime now) {
  if (failed_) return std::nullopt;
  if (tail_.take_request()) {
    // On another value than the one that is silent.
    const auto oldest = sent_.oldest_in_flight();
    const auto ev = oldest ? evs().choose(~0u, now, sent_[*oldest].ev) : evs().choose(~0u, now);
    if (ev) return ProbePacket{evs().value(*ev), evs().plane(*ev), tail_.send(now)};
  }
  const uint16_t id = tail_.new_probe_id();
  if (const auto ev = paths_.due_probe(id, now)) {
    return ProbePacket{evs().value(*ev), evs().plane(*ev), id};
  }
  return std::nullopt;
}

void Requester::fail(std::string_view reason, std::optional<uint64_t> culprit) {
  if (failed_) return;
  failed_ = true;
  // What is in flight no longer counts in the destination's window.
  while (const auto s = sent_.oldest_in_flight()) {
    window_.on_withdrawn(cost(sent_[*s].length));
    leave_plane(sent_[*s]);
    sent_.mark_lost(*s);
  }
  while (const auto number = queue_.give_up_next()) {
    events_.write_failed(queue_.id_of(*number), number == culprit ? reason : kFlushed);
  }
  events_.failed(reason);
}

void Requester::fail_oldest(std::string_view reason) { fail(reason, queue_.completed()); }

void Requester::count_retry() {
  if (!retry_.count_retry()) fail_oldest("Retry Counter Exceeded");
}

}  // namespace mrclab::endpoint
