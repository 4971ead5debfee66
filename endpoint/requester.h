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
#include <vector>

#include "endpoint/application.h"
#include "endpoint/congestion_control.h"
#include "endpoint/connection_attributes.h"
#include "endpoint/ev_prober.h"
#include "endpoint/ev_set.h"
#include "endpoint/host_stats.h"
#include "endpoint/loss_detector.h"
#include "endpoint/outstanding_table.h"
#include "endpoint/scheduler_state.h"
#include "endpoint/sequence_ring.h"
#include "endpoint/transport_profile.h"
#include "fabric/fifo.h"
#include "fabric/headers.h"

namespace mrclab::endpoint {

/// Is told by a requester what happened, at fabric time, in order.
class RequesterEvents {
 public:
  virtual ~RequesterEvents() = default;
  virtual void write_completed(uint64_t id) = 0;
  /// Called for each write that is not complete, before failed(). `status`: the failure, or
  /// kFlushed.
  virtual void write_failed(uint64_t id, std::string_view status) = 0;
  /// A transition that observers outside see: "good", "assumed_bad" or "denied".
  virtual void ev_changed(EntropyValue ev, EvState to) = 0;
  /// A backup took the active place of another value of its plane.
  virtual void ev_swapped(EntropyValue in, EntropyValue out) = 0;
  /// `cause` is "rack", "probe" or "timeout".
  virtual void loss_detected(EntropyValue ev, Psn psn, std::string_view cause) = 0;
  virtual void failed(std::string_view reason) = 0;
};

/// One data packet to be made into a frame. `payload` points into the writer's memory.
struct DataPacket {
  Opcode opcode = Opcode::kWriteOnly;
  Psn psn;
  EntropyValue ev;
  uint32_t port = 0;  ///< = plane
  ConstMemory payload;
  Meth meth;
  Reth reth;
  std::optional<uint32_t> immediate;
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

class Requester {
 public:
  Requester(const TransportProfile& profile, const ConnectionLimits& limits, Psn first_psn,
            EvSet evs, EvProber prober, CongestionControl& window, RequesterEvents& events,
            HostStats& stats);

  /// RTR to RTS: what was agreed for sending. Only before the first post().
  void start(const ConnectionLimits& limits, Psn first_psn);
  /// False if it is empty, longer than 2^32 - 1 bytes, the queue is full or the requester failed.
  bool post(const WriteRequest& request, FabricTime now);

  /// Would it send a packet if a port were free?
  bool ready(FabricTime now) const;
  SchedulerState scheduler_state(FabricTime now) const;
  /// The next packet for one of `free_ports`; it counts as sent at `now`.
  std::optional<DataPacket> next_packet(uint32_t free_ports, FabricTime now);

  /// Feedback. kCount: accepted; else why it was refused.
  Refusal on_sack(const Seth& seth, FabricTime now);
  Refusal on_nack(const Neth& neth, FabricTime now);
  Refusal on_ack(const Aeth& aeth, Psn psn, FabricTime now);

  /// The earliest instant at which on_timer() has something to do.
  FabricTime deadline(FabricTime now) const;
  void on_timer(FabricTime now);
  /// Probes that are due; call until empty after on_timer().
  std::optional<ProbePacket> next_probe(FabricTime now);

  void set_live_ports(LivePorts live, FabricTime now);
  /// The controller denies or allows a value; nothing else undoes it.
  void set_denied(EntropyValue value, bool denied, FabricTime now);
  /// Ends the requester, for a reason that must outlive it. Everything outstanding is flushed;
  /// `culprit` is the number of the write that caused the failure, if one did.
  void fail(std::string_view reason, std::optional<uint64_t> culprit = {});
  bool failed() const { return failed_; }

  EvSet& evs() { return evs_; }
  const EvSet& evs() const { return evs_; }
  const OutstandingTable& outstanding() const { return sent_; }

 private:
  struct Message {
    WriteRequest request;
    uint32_t length = 0;
    Meth meth;
    Sequence first = -1;  ///< sequence of its first packet, once sent
    Sequence last = -1;   ///< sequence of its last packet, once sent
  };
  static constexpr size_t kSendQueueLimit = 2048;  ///< messages
  static constexpr uint16_t kNoProbe = 0;

  Message& message(uint64_t number) { return messages_[static_cast<Sequence>(number)]; }
  const Message& message(uint64_t number) const { return messages_[static_cast<Sequence>(number)]; }
  bool has_new_data() const;
  bool may_send_new(FabricTime now) const;
  std::optional<Sequence> sendable_lost(FabricTime now) const;
  FabricTime paced_deadline(FabricTime now) const;
  Sequence range_end() const { return sent_.begin() + range_; }
  uint32_t next_length() const;
  Bytes cost(uint32_t payload) const { return {payload + kNominalHeaderBytes}; }
  void add_new_packet();
  void leave_plane(Sequence s) {
    window_.planes().leave_flight(evs_.plane(sent_[s].ev), cost(sent_[s].length));
  }
  DataPacket describe(Sequence s);
  void request_ack_if_last_for_now(DataPacket& packet, FabricTime now) const;

  bool acknowledges_unsent(const Seth& seth, Sequence cumulative) const;
  Refusal on_late_nack(const Neth& neth, Sequence s, uint32_t ev, FabricTime now);
  void on_trigger(const Seth& seth, Sequence cumulative, FabricTime now);
  std::optional<FabricTime> service_time(uint16_t reflected, FabricTime sent, FabricTime now) const;
  void adopt_range(const Seth& seth, Sequence cumulative);
  bool absorb_bitmap(const Seth& seth, Sequence cumulative, FabricTime now);
  bool acknowledge_to(Sequence last, FabricTime now);
  void acknowledge(Sequence s, FabricTime now);
  void on_probe_answer(const Seth& seth, Sequence cumulative, FabricTime now);
  void detect_losses(FabricTime now);
  void declare_lost(Sequence s, std::string_view cause, FabricTime now);
  void on_spurious_loss(Sequence s, bool certain, FabricTime now);
  void suspect_spurious_loss(Sequence s, FabricTime now);
  void hold_loss_against(uint32_t ev, FabricTime sent, FabricTime now);
  bool plane_loses_alike(uint32_t ev, FabricTime now) const;
  void heard_from(uint32_t ev, FabricTime sent);
  void note_arrival(bool trimmed);
  void assume_bad(uint32_t ev, FabricTime now);
  void tell_ev_change(uint32_t ev, EvState to);
  void tell_swaps();
  void retransmit_trimmed(Sequence s, CongestionControl::TrimmedAt where, FabricTime now);
  void back_off(Sequence s, FabricTime now);
  void release_refused(FabricTime now);
  void complete_to(Sequence last);
  std::optional<uint64_t> unfinished_write(Sequence s) const;
  void count_retry();
  void progress(FabricTime now);
  FabricTime timeout() const;
  FabricTime timeout_deadline() const;
  FabricTime tail_deadline() const;
  bool waiting() const { return sent_.size() > 0 || completed_ < started_; }
  /// Is there work, but no path at all? That must end in an error, too, or the writer would wait
  /// for ever.
  bool starved() const { return posted_ != started_ && evs_.ports_with_choice() == 0; }
  uint16_t new_probe_id();

  TransportProfile profile_;
  DirectionLimits limits_;
  RetryPolicy retry_;
  PsnSpace psns_;
  EvSet evs_;
  EvProber prober_;
  CongestionControl& window_;
  RequesterEvents& events_;
  HostStats& stats_;
  LossDetector detector_;
  OutstandingTable sent_;
  Acknowledgement news_;  // the SACK or transport ACK in hand, for the window

  SequenceRing<Message> messages_;  // by message number, from completed_ on
  uint64_t posted_ = 0;             // messages; the next to be posted
  uint64_t started_ = 0;            // messages whose first packet was sent
  uint64_t completed_ = 0;
  uint32_t offset_ = 0;  // into message started_ - 1, if that has more to send
  bool in_message_ = false;
  uint32_t immediates_in_flight_ = 0;
  uint16_t rqmsn_ = 0;

  uint32_t range_ = 0;  // packets beyond cumulative that may be sent now (dynamic MPR)
  Sequence range_cumulative_ = -1;
  uint32_t range_units_ = 0;  // received_units of the SACK that said so

  /// The evidence about an entropy value's path, from packets that were sent on it.
  struct PathEvidence {
    FabricTime held_against;                     ///< when the newest loss was sent
    FabricTime heard = FabricTime::from_ps(-1);  ///< when the newest that arrived was sent
    uint32_t silent = 0;  ///< losses in a row, with nothing heard of later packets
  };
  static constexpr uint32_t kSilentPath = 4;
  std::vector<PathEvidence> evidence_;  // by value
  static constexpr uint32_t kWhole = 1 << 16;
  uint32_t trimmed_share_ = 0;  // share of packets that arrive trimmed, in 1 / kWhole
  FabricTime last_trim_ = FabricTime::from_ms(-1000);  // when the newest trim was reported
  FabricTime min_rtt_;  // least round trip of packets sent once; zero until there is one

  uint32_t retries_ = 0;
  FabricTime last_news_;  // newest progress or transmission
  FabricTime last_timeout_;
  FabricTime backs_off_until_;  // packets refused until then are part of the same retry
  /// Packets that the receiver had no room for, and when each goes again, in the order of NACKs.
  struct RefusedPacket {
    Sequence sequence = 0;
    FabricTime due;
  };
  Fifo<RefusedPacket> refused_;
  FabricTime tail_sent_;
  FabricTime last_tail_;  // last tail probe, sent or wanted
  uint16_t tail_probe_id_ = kNoProbe;
  bool tail_wanted_ = false;
  uint16_t last_probe_id_ = kNoProbe;
  bool failed_ = false;
};

}  // namespace mrclab::endpoint
