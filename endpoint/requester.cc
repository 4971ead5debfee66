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
      detector_({profile.base_rtt, profile.reorder_window, profile.reorder_window_max}),
      sent_(limits.sending.max_psn_range),
      rqmsn_(static_cast<uint16_t>(profile.first_msn)),
      range_(limits.sending.max_psn_range),
      evidence_(evs_.size()),
      refused_(kMaxMprUnits * size_t{kMprUnit}) {}

void Requester::start(const ConnectionLimits& limits, Psn first_psn) {
  limits_ = limits.sending;
  retry_ = limits.retry;
  psns_ = PsnSpace(first_psn);
  sent_ = OutstandingTable(limits_.max_psn_range);
  range_ = limits_.max_psn_range;
}

bool Requester::post(const WriteRequest& request, FabricTime now) {
  if (failed_ || request.local.empty() || request.local.size() > 0xFFFF'FFFFu ||
      posted_ - completed_ >= kSendQueueLimit) {
    return false;
  }
  // What is posted first after a pause starts the clock of a sender without any path.
  if (posted_ == completed_) last_news_ = std::max(last_news_, now);
  messages_.make_room(static_cast<Sequence>(completed_), static_cast<Sequence>(posted_),
                      static_cast<Sequence>(posted_ + 1));
  Message& m = message(posted_++);
  m = Message{};
  m.request = request;
  m.length = static_cast<uint32_t>(request.local.size());
  m.meth.msn = static_cast<uint16_t>(profile_.first_msn + posted_);
  // RQMSN counts Write-with-Immediate messages (MRC specification, tables 6-8 and 6-9).
  if (request.immediate) m.meth.rqmsn = ++rqmsn_;
  return true;
}

bool Requester::has_new_data() const {
  if (sent_.end() >= range_end()) return false;  // never beyond cumulative + MPR
  if (in_message_) return true;
  if (started_ == posted_) return false;
  return !message(started_).request.immediate || immediates_in_flight_ < limits_.max_immediates;
}

uint32_t Requester::next_length() const {
  if (in_message_) return std::min(profile_.pmtu, message(started_ - 1).length - offset_);
  return std::min(profile_.pmtu, message(started_).length);
}

/// The oldest gap goes first. A shrunk range delays what lies beyond it.
std::optional<Sequence> Requester::sendable_lost(FabricTime now) const {
  const auto lost = sent_.first_lost();
  if (!lost || *lost >= range_end() || !window_.may_send(cost(sent_[*lost].length), now)) return {};
  return lost;
}

bool Requester::may_send_new(FabricTime now) const {
  return has_new_data() && window_.may_send(cost(next_length()), now);
}

bool Requester::ready(FabricTime now) const {
  if (failed_) return false;
  return sent_.lost() > 0 ? sendable_lost(now).has_value() : may_send_new(now);
}

SchedulerState Requester::scheduler_state(FabricTime now) const {
  const bool data = sent_.lost() > 0 || in_message_ || started_ < posted_;
  if (failed_) return SchedulerState::kIdle;
  if (!data) return waiting() ? SchedulerState::kPending : SchedulerState::kIdle;
  return ready(now) ? SchedulerState::kReady : SchedulerState::kActive;
}

std::optional<DataPacket> Requester::next_packet(uint32_t free_ports, FabricTime now) {
  if (!ready(now)) return std::nullopt;
  std::optional<Sequence> s = sendable_lost(now);
  if (profile_.plane_shares) {
    free_ports &=
        window_.planes().with_room(evs_.ports_with_choice(), window_.window(), cost(profile_.pmtu));
  }
  // "New EV chosen at send time; the EV in the NACK should not be used."
  std::optional<uint32_t> ev;
  if (s) ev = evs_.choose(free_ports, now, sent_[*s].ev);
  if (!ev) {
    // The free ports only lead where the packet was lost: new data may go there.
    if (!may_send_new(now)) return std::nullopt;
    ev = evs_.choose(free_ports, now);
    if (!ev) return std::nullopt;
    s = sent_.end();
    add_new_packet();
  }
  sent_.transmitted(*s, now, *ev);
  window_.on_sent(cost(sent_[*s].length), now);
  window_.planes().enter_flight(evs_.plane(*ev), cost(sent_[*s].length));
  last_news_ = now;
  DataPacket packet = describe(*s);
  packet.ev = evs_.value(*ev);
  packet.port = evs_.plane(*ev);
  request_ack_if_last_for_now(packet, now);
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
  packet.trimmable = limits_.trim_nack;
  return packet;
}

/// UEC: ask for an acknowledgement when this is the last packet that may go for now.
void Requester::request_ack_if_last_for_now(DataPacket& packet, FabricTime now) const {
  if (!ready(now) || window_.wants_acknowledgement()) packet.ack_request = true;
}

}  // namespace mrclab::endpoint
