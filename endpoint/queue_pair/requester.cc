// Sending and timers. What feedback does is requester_feedback.cc.

#include "endpoint/queue_pair/requester.h"

#include <algorithm>
#include <utility>

namespace mrclab::endpoint {

Requester::Requester(const TransportProfile& profile, const ConnectionLimits& limits, Psn first_psn,
                     LazyEvSet evs, EvProber prober, CongestionControl& window,
                     RequesterEvents& events, HostStats& stats)
    : profile_(profile),
      limits_(limits.sending),
      psns_(first_psn),
      window_(window),
      events_(events),
      stats_(stats),
      detector_({profile.base_rtt, profile.reorder_window, profile.reorder_window_max}),
      sent_(limits.sending.max_psn_range),
      paths_(std::move(evs), std::move(prober), profile.ev_probes, profile.loss_guards, events,
             stats),
      queue_(profile.pmtu, profile.first_msn),
      range_(limits.sending.max_psn_range, profile.sack_base),
      retry_(limits.retry) {}

void Requester::start(const ConnectionLimits& limits, Psn first_psn) {
  limits_ = limits.sending;
  retry_.set_policy(limits.retry);
  psns_ = PsnSpace(first_psn);
  sent_ = OutstandingTable(limits_.max_psn_range);
  range_ = PsnRange(limits_.max_psn_range, profile_.sack_base);
}

bool Requester::post(const WriteRequest& request, FabricTime now) {
  if (failed_) return false;
  const bool idle = queue_.posted() == queue_.completed();
  if (!queue_.post(request)) return false;
  // The first post after a pause starts the clock of a sender without any path.
  if (idle) retry_.note_news(std::max(retry_.last_news(), now));
  return true;
}

bool Requester::has_new_data() const {
  if (sent_.end() >= range_end()) return false;  // never beyond cumulative + MPR
  return queue_.has_packet(limits_.max_immediates);
}

/// The oldest gap goes first. A shrunk range delays what lies beyond it.
std::optional<Sequence> Requester::sendable_lost(FabricTime now) const {
  const auto lost = sent_.first_lost();
  if (!lost || *lost >= range_end() || !window_.may_send(cost(sent_[*lost].length), now)) return {};
  return lost;
}

bool Requester::may_send_new(FabricTime now) const {
  return has_new_data() && window_.may_send(cost(queue_.next_length()), now);
}

bool Requester::ready(FabricTime now) const {
  if (failed_) return false;
  return sent_.lost() > 0 ? sendable_lost(now).has_value() : may_send_new(now);
}

SchedulerState Requester::scheduler_state(FabricTime now) const {
  if (failed_) return SchedulerState::kIdle;
  if (!has_data()) return waiting() ? SchedulerState::kPending : SchedulerState::kIdle;
  return ready(now) ? SchedulerState::kReady : SchedulerState::kActive;
}

std::optional<DataPacket> Requester::next_packet(uint32_t free_ports, FabricTime now) {
  // Every return gives this back, so that it is made where the caller has it, and not copied.
  std::optional<DataPacket> packet;
  if (failed_) return packet;
  std::optional<Sequence> s;
  if (sent_.lost() > 0) {
    s = sendable_lost(now);
    if (!s) return packet;
  } else if (!may_send_new(now)) {
    return packet;
  }
  if (profile_.plane_shares) {
    free_ports = window_.planes().with_room(free_ports, evs().ports_with_choice(), window_.window(),
                                            cost(profile_.pmtu));
  }
  // "New EV chosen at send time; the EV in the NACK should not be used."
  std::optional<uint32_t> ev;
  if (s) ev = evs().choose(free_ports, now, window_.plane_turn(), sent_[*s].ev);
  if (!ev) {
    // The free ports only lead where the packet was lost: new data may go there.
    if (s && !may_send_new(now)) return packet;
    ev = evs().choose(free_ports, now, window_.plane_turn());
    if (!ev) return packet;
    s = sent_.end();
    queue_.cut_packet_into(sent_);
  }
  sent_.transmitted(*s, now, *ev);
  const Bytes size = cost(sent_[*s].length);
  window_.on_sent(size, now);
  window_.planes().enter_flight(evs().plane(*ev), size);
  retry_.note_news(now);
  packet.emplace();
  describe(*s, *packet);
  packet->ev = evs().value(*ev);
  packet->port = evs().plane(*ev);
  request_acknowledgement(*packet, now);
  ++(packet->retransmission ? stats_.retransmissions : stats_.data_packets_sent);
  return packet;
}

/// Fills in all but the path.
void Requester::describe(Sequence s, DataPacket& packet) const {
  const SentPacket& sent = sent_[s];
  queue_.describe(sent, packet);
  packet.psn = psns_.psn(s);
  packet.retransmission = sent.transmissions > 1;
  packet.ack_request = packet.last;
  packet.trimmable = limits_.trim_nack;
}

/// UEC: ask for an acknowledgement when this is the last packet that may go for now. And when the queue
/// pair may not send as much without an answer as a receiver lets come in before it gives one by itself.
void Requester::request_acknowledgement(DataPacket& packet, FabricTime now) {
  unasked_ += cost(static_cast<uint32_t>(packet.payload.size()));
  const auto would_wait = [this] {
    const Bytes most = window_.most_unanswered();
    return most.value < profile_.sack_threshold && unasked_ >= most;
  };
  if (packet.ack_request || window_.wants_acknowledgement() || would_wait() || !ready(now)) {
    packet.ack_request = true;
    unasked_ = {};
  }
}

}  // namespace mrclab::endpoint
