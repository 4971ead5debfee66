#pragma once
// The sending half of a queue pair: writes in, packets out, feedback in, completions out.
//
// Pull: the NIC asks next_packet() when a port is free; the entropy value is chosen then. The
// retransmission of the oldest gap goes before new data, on another value than the one that lost
// it. The rules (MRC specification §7, facts in the comments of the classes used):
//   - a packet is lost by the time rule (LossDetector), by a probe's answer or by the ACK timeout;
//     lost and not trimmed means that its path has failed: the value becomes ASSUMED_BAD
//   - a trim NACK means congestion: SKIP (not on the last hop), retransmit, no path is to blame
//   - a write completes when a transport ACK covers it, not when it is SACKed
//   - a NACK for lack of resources concerns the receiver alone: a smaller window, and the packet
//     goes again after the interval of a retry (MRC API: linear, then exponential)
//   - no progress for (linear + exponential) timeouts: "Retry Counter Exceeded"
// Feedback may be any bytes from any sender: a packet that does not fit is refused before state
// changes.

#include <cstdint>
#include <optional>
#include <string_view>

#include "endpoint/base/application.h"
#include "endpoint/base/connection_attributes.h"
#include "endpoint/base/host_stats.h"
#include "endpoint/base/scheduler_state.h"
#include "endpoint/base/transport_profile.h"
#include "endpoint/congestion/congestion_control.h"
#include "endpoint/queue_pair/loss_detector.h"
#include "endpoint/queue_pair/outstanding_table.h"
#include "endpoint/queue_pair/path_keeper.h"
#include "endpoint/queue_pair/psn_range.h"
#include "endpoint/queue_pair/requester_events.h"
#include "endpoint/queue_pair/retry_state.h"
#include "endpoint/queue_pair/send_queue.h"
#include "endpoint/queue_pair/tail_probe.h"
#include "fabric/packet/headers.h"

namespace mrclab::endpoint {

/// One data packet to be made into a frame: a piece of a write, and how it goes. `payload` points into the
/// writer's memory.
struct DataPacket : SendQueue::PacketView {
  Psn psn;
  EntropyValue ev;
  uint32_t port = 0;  ///< = plane
  bool ack_request = false;
  bool retransmission = false;
  bool trimmable = true;  ///< the receiver answers trims
};

/// One reliability probe to be made into a frame.
struct ProbePacket {
  EntropyValue ev;
  uint32_t port = 0;
  uint16_t id = 0;
};

/// More functions than other classes have: six kinds of feedback meet five timers here, and each is one
/// short step over the parts below, which keep the state.
class Requester {
 public:
  /// `profile`, `window`, `events` and `stats` outlive it.
  Requester(const TransportProfile& profile, const ConnectionLimits& limits, Psn first_psn,
            LazyEvSet evs, EvProber prober, CongestionControl& window, RequesterEvents& events,
            HostStats& stats);

  /// RTR to RTS: what was agreed for sending. Only before the first post().
  void start(const ConnectionLimits& limits, Psn first_psn);
  /// False if it is longer than 2^32 - 1 bytes, the queue is full or the requester failed.
  bool post(const WriteRequest& request, FabricTime now);

  /// Are there packets to send, now or later?
  bool has_data() const { return sent_.lost() > 0 || queue_.has_uncut(); }
  /// Would it send a packet if a port were free?
  bool ready(FabricTime now) const;
  SchedulerState scheduler_state(FabricTime now) const;
  /// The next packet for one of `free_ports`; it counts as sent at `now`. Flat, as it is a dozen short steps of
  /// several classes, whose calls would be a fifth of what it costs.
  [[gnu::flatten]] std::optional<DataPacket> next_packet(uint32_t free_ports, FabricTime now);

  /// Feedback. kNone: accepted; else why it was refused.
  Refusal on_sack(const Seth& seth, FabricTime now);
  Refusal on_nack(const Neth& neth, FabricTime now);
  Refusal on_ack(const Aeth& aeth, Psn psn, FabricTime now);

  /// The earliest instant at which on_timer() has something to do.
  FabricTime deadline(FabricTime now) const;
  void on_timer(FabricTime now);
  /// Probes that are due; call until empty after on_timer().
  std::optional<ProbePacket> next_probe(FabricTime now);

  void set_live_ports(LivePorts live, FabricTime now) { paths_.set_live_ports(live, now); }
  /// The controller denies or allows a value; nothing else undoes it.
  void set_denied(EntropyValue value, bool denied, FabricTime now) {
    paths_.set_denied(value, denied, now);
  }
  /// Ends the requester, for a reason that must outlive it. Everything outstanding is flushed;
  /// `culprit` is the number of the write that caused the failure, if one did.
  void fail(std::string_view reason, std::optional<uint64_t> culprit = {});
  /// The same with the oldest write as the culprit, if there is one.
  void fail_oldest(std::string_view reason);
  bool failed() const { return failed_; }

  EvSet& evs() { return paths_.evs(); }
  const EvSet& evs() const { return paths_.evs(); }
  uint32_t unusable_evs() const { return paths_.unusable(); }
  const OutstandingTable& outstanding() const { return sent_; }

 private:
  bool has_new_data() const;
  bool may_send_new(FabricTime now) const;
  std::optional<Sequence> sendable_lost(FabricTime now) const;
  FabricTime paced_deadline(FabricTime now) const;
  Sequence range_end() const { return range_.end(sent_.begin()); }
  Bytes cost(uint32_t payload) const { return {payload + kNominalHeaderBytes}; }
  void leave_plane(const SentPacket& packet) {
    window_.planes().leave_flight(evs().plane(packet.ev), cost(packet.length));
  }
  void describe(Sequence s, DataPacket& packet) const;
  void request_acknowledgement(DataPacket& packet, FabricTime now);

  void report_news(FabricTime now);
  bool acknowledges_unsent(const Seth& seth, Sequence cumulative) const;
  Refusal on_late_nack(const Neth& neth, Sequence s, uint32_t ev, FabricTime now);
  std::optional<FabricTime> sent_at(const Seth& seth, Sequence cumulative) const;
  void on_trigger(const Seth& seth, Sequence cumulative, FabricTime now);
  std::optional<FabricTime> service_time(uint16_t reflected, FabricTime sent, FabricTime now) const;
  [[gnu::flatten]] bool absorb_bitmap(const Seth& seth, Sequence cumulative, FabricTime now);
  [[gnu::flatten]] bool acknowledge_to(Sequence last, FabricTime now);
  void acknowledge(Sequence s, FabricTime now);
  void on_probe_answer(const Seth& seth, Sequence cumulative, FabricTime now);
  void detect_losses(FabricTime now);
  void declare_lost(Sequence s, std::string_view cause, FabricTime now);
  [[gnu::noinline]] void on_spurious_loss(Sequence s, bool certain, FabricTime now);
  void suspect_spurious_loss(Sequence s, const SentPacket& packet, FabricTime now);
  void retransmit_trimmed(Sequence s, CongestionControl::TrimmedAt where, FabricTime now);
  void back_off(Sequence s, FabricTime now);
  void release_refused(FabricTime now);
  void complete_to(Sequence last);
  void count_retry();
  FabricTime timeout_deadline() const;
  FabricTime tail_deadline() const;
  /// Is an answer of the peer overdue if none comes? While nothing is in flight and packets wait for
  /// their turn in the window of the destination, none is, unless retries show that the peer was silent
  /// before: of 1,024 queue pairs in front of one port each sends a packet in 40 round trips, and probes of
  /// all the others would fill the port.
  bool waiting() const {
    if (sent_.in_flight() > 0) return true;
    if (retry_.is_retrying()) return sent_.size() > 0 || queue_.completed() < queue_.started();
    return sent_.lost() == 0 && queue_.completed() < queue_.sent_whole();
  }
  /// Work, but no path at all: that must end in an error too, or the writer would wait for ever.
  bool starved() const {
    return (queue_.has_uncut() || sent_.lost() > 0) && evs().ports_with_choice() == 0;
  }

  const TransportProfile& profile_;
  DirectionLimits limits_;
  PsnSpace psns_;
  CongestionControl& window_;
  RequesterEvents& events_;
  HostStats& stats_;
  LossDetector detector_;
  OutstandingTable sent_;
  PathKeeper paths_;
  Acknowledgement news_;  ///< of the SACK or transport ACK in hand, for the window
  SendQueue queue_;
  PsnRange range_;
  RetryState retry_;
  TailProbe tail_;
  Bytes unasked_;       ///< sent since the last packet that asked for an acknowledgement
  FabricTime min_rtt_;  ///< of packets sent once; zero until there is one
  bool failed_ = false;
};

}  // namespace mrclab::endpoint
