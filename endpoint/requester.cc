// Sending and timers. What feedback does is requester_feedback.cc.

#include "endpoint/requester.h"

#include <algorithm>
#include <utility>

namespace mrclab::endpoint {

Requester::Requester(const TransportProfile& profile, const ConnectionLimits& limits, Psn first_psn,
                     EvSet evs, EvProber prober, CongestionControl& window, RequesterEvents& events,
                     HostStats& stats)
    : profile_(profile),
      limits_(limits.sending),
      retry_(limits.retry),
      psns_(first_psn),
      evs_(std::move(evs)),
      prober_(std::move(prober)),
      window_(window),
      events_(events),
      stats_(stats),
      detector_(profile.reorder_window),
      sent_(limits.sending.max_psn_range),
      messages_(kSendQueueLimit) {}

void Requester::start(const ConnectionLimits& limits, Psn first_psn) {
  limits_ = limits.sending;
  retry_ = limits.retry;
  psns_ = PsnSpace(first_psn);
  sent_ = OutstandingTable(limits_.max_psn_range);
}

bool Requester::post(const WriteRequest& request, FabricTime now) {
  if (failed_ || request.local.empty() || request.local.size() > 0xFFFF'FFFFu ||
      posted_ - completed_ >= kSendQueueLimit) {
    return false;
  }
  // What is posted first after a pause starts the clock of a sender without any path.
  if (posted_ == completed_) last_news_ = std::max(last_news_, now);
  Message& m = message(posted_++);
  m = Message{};
  m.request = request;
  m.length = static_cast<uint32_t>(request.local.size());
  m.meth.msn = static_cast<uint16_t>(posted_);
  // RQMSN counts Write-with-Immediate messages (MRC specification, tables 6-8 and 6-9).
  if (request.immediate) m.meth.rqmsn = ++rqmsn_;
  return true;
}

bool Requester::has_new_data() const {
  if (sent_.full()) return false;  // never beyond cumulative + MPR
  if (in_message_) return true;
  if (started_ == posted_) return false;
  return !message(started_).request.immediate || immediates_in_flight_ < limits_.max_immediates;
}

uint32_t Requester::next_length() const {
  if (in_message_) return std::min(profile_.pmtu, message(started_ - 1).length - offset_);
  return std::min(profile_.pmtu, message(started_).length);
}

bool Requester::ready() const {
  if (failed_) return false;
  if (const auto lost = sent_.first_lost()) return window_.may_send(cost(sent_[*lost].length));
  return has_new_data() && window_.may_send(cost(next_length()));
}

SchedulerState Requester::scheduler_state() const {
  const bool data = sent_.lost() > 0 || in_message_ || started_ < posted_;
  if (failed_ || !data)
    return !failed_ && waiting() ? SchedulerState::kPending : SchedulerState::kIdle;
  return ready() ? SchedulerState::kReady : SchedulerState::kActive;
}

std::optional<DataPacket> Requester::next_packet(uint32_t free_ports, FabricTime now) {
  if (!ready()) return std::nullopt;
  std::optional<Sequence> s = sent_.first_lost();
  // "New EV chosen at send time; the EV in the NACK should not be used."
  const auto ev = s ? evs_.choose(free_ports, now, sent_[*s].ev) : evs_.choose(free_ports, now);
  if (!ev) return std::nullopt;
  if (!s) {
    s = sent_.end();
    add_new_packet();
  }
  sent_.transmitted(*s, now, *ev);
  window_.on_sent(cost(sent_[*s].length));
  last_news_ = now;
  DataPacket packet = describe(*s);
  packet.ev = evs_.value(*ev);
  packet.port = evs_.plane(*ev);
  request_ack_if_last_for_now(packet);
  ++(packet.retransmission ? stats_.retransmissions : stats_.data_packets_sent);
  return packet;
}

void Requester::add_new_packet() {
  const uint32_t length = next_length();
  if (!in_message_) {
    if (message(started_).request.immediate) ++immediates_in_flight_;
    message(started_).first = sent_.end();
    ++started_;
    offset_ = 0;
    in_message_ = true;
  }
  Message& m = message(started_ - 1);
  sent_.add(started_ - 1, offset_, length);
  offset_ += length;
  if (offset_ == m.length) {
    in_message_ = false;
    m.last = sent_.end() - 1;
  }
}

DataPacket Requester::describe(Sequence s) {
  const SentPacket& sent = sent_[s];
  const Message& m = message(sent.request);
  const bool first = sent.offset == 0;
  const bool last = sent.offset + sent.length == m.length;
  const bool immediate = last && m.request.immediate.has_value();
  DataPacket packet;
  if (last) {
    packet.opcode = first ? (immediate ? Opcode::kWriteOnlyImm : Opcode::kWriteOnly)
                          : (immediate ? Opcode::kWriteLastImm : Opcode::kWriteLast);
  } else {
    packet.opcode = first ? Opcode::kWriteFirst : Opcode::kWriteMiddle;
  }
  packet.psn = psns_.psn(s);
  packet.payload = m.request.local.subspan(sent.offset, sent.length);
  packet.meth = m.meth;
  packet.reth = {m.request.remote_va + sent.offset, m.request.rkey, m.length};
  if (immediate) packet.immediate = m.request.immediate;
  packet.retransmission = sent.transmissions > 1;
  packet.ack_request = last;
  return packet;
}

/// UEC: ask for an acknowledgement when this is the last packet that may go for now.
void Requester::request_ack_if_last_for_now(DataPacket& packet) const {
  if (!ready() || window_.wants_acknowledgement()) packet.ack_request = true;
}

FabricTime Requester::timeout() const {
  // MRC API: linear retries at a fixed interval, then exponential ones.
  const uint32_t doublings =
      retries_ > retry_.linear_retries ? retries_ - retry_.linear_retries : 0;
  return retry_.ack_timeout * (int64_t{1} << std::min(doublings, 20u));
}

FabricTime Requester::timeout_deadline() const {
  if (!waiting() && !starved()) return FabricTime::never();
  if (const auto oldest = sent_.oldest_in_flight()) return sent_[*oldest].sent + timeout();
  // Nothing in flight: no path to send on, or only the transport ACK is missing.
  return std::max(last_news_, last_timeout_) + timeout();
}

FabricTime Requester::tail_deadline() const {
  if (!waiting() || tail_wanted_) return FabricTime::never();
  return std::max(last_news_, last_tail_) + profile_.tail_probe;
}

FabricTime Requester::deadline() const {
  if (failed_) return FabricTime::never();
  return std::min({timeout_deadline(), tail_deadline(), prober_.next_due()});
}

void Requester::on_timer(FabricTime now) {
  if (failed_) return;
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
      count_retry(now);
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
    // On another value than the one that is silent.
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

void Requester::set_usable_ports(uint32_t ports, FabricTime now) {
  const uint32_t before = evs_.unusable();
  evs_.set_usable_ports(ports, now);
  const uint32_t after = evs_.unusable();
  if (after > before) stats_.evs_lost += after - before;
  if (after < before) stats_.evs_regained += before - after;
  // A plane that is known to be down needs no probes; one that is back starts GOOD.
  for (uint32_t ev = 0; ev < evs_.size(); ++ev) {
    const bool usable = (ports & 1u << evs_.plane(ev)) != 0;
    if (!usable || evs_.state(ev) != EvState::kAssumedBad) prober_.forget(ev);
  }
}

void Requester::fail(std::string_view reason, std::optional<uint64_t> culprit) {
  if (failed_) return;
  failed_ = true;
  // What is in flight no longer counts in the destination's window.
  while (const auto s = sent_.oldest_in_flight()) {
    window_.on_withdrawn(cost(sent_[*s].length));
    sent_.mark_lost(*s);
  }
  for (; completed_ < posted_; ++completed_) {
    events_.write_failed(message(completed_).request.id, completed_ == culprit ? reason : kFlushed);
  }
  started_ = completed_;
  events_.failed(reason);
}

}  // namespace mrclab::endpoint
