#pragma once
// The sending half of an RC queue pair (InfiniBand specification 9.7.5; Linux rdma_rxe's requester and
// completer).
//
//   acknowledged() <= next_ <= sent_end_ <= messages.end()
//
//   - an ACK of n covers every packet up to n; work completes in order when its last packet is covered
//   - NAK "PSN sequence error" of n covers what is before n, and reports that n is missing: go-back-N retransmits
//     everything from n, a selective sender n alone. The same NAK again changes nothing until there was
//     progress or a timeout. A NAK names one packet, so that a selective sender would repair a burst at one
//     packet each round trip: where the packet right behind what it retransmitted is missing too it sends twice
//     as many of those that follow, up to what a receiver keeps (our choice; no product's rule is published)
//   - "receiver not ready" of n covers what is before n; n and what follows go again after its time. Seven
//     retries mean for ever, as in the verbs
//   - without progress for the ACK timeout, back to the oldest packet that is not covered; after so many
//     timeouts in a row the queue pair fails (rc_timers.h). So it does for NAKs of invalid requests and accesses
//   - the answer to a READ or an atomic covers what is before it; work behind it is not complete before it. An answer
//     that is not the next one shows that one was lost, and the request goes again from there. An ACK shows nothing of
//     that kind (InfiniBand has "implied NAKs"): ours travel in a class of their own, and may overtake answers
//   - DCQCN, if it is on, decides when the next packet may leave
//
// Feedback may be any bytes from any sender: what does not fit is refused before state changes.

#include <cstdint>
#include <optional>
#include <string_view>

#include "endpoint/base/application.h"
#include "endpoint/base/host_stats.h"
#include "endpoint/base/sequence.h"
#include "endpoint/congestion/dcqcn.h"
#include "endpoint/roce/rc_messages.h"
#include "endpoint/roce/rc_packet.h"
#include "endpoint/roce/rc_parameters.h"
#include "fabric/packet/headers.h"

namespace mrclab::endpoint {

class RcRequesterEvents {
 public:
  virtual ~RcRequesterEvents() = default;
  virtual void work_completed(uint64_t id) = 0;
  virtual void work_failed(uint64_t id, std::string_view status) = 0;
  /// `cause`: "nak", "rnr", "timeout"; the packet goes again.
  virtual void loss_detected(Psn psn, std::string_view cause) = 0;
  virtual void failed(std::string_view reason) = 0;
};

class RcRequester {
 public:
  RcRequester(const RcParameters& parameters, Psn first_psn, RcRequesterEvents& events,
              HostStats& stats);

  /// Before the first post: timers and retries that were not set when it was made, and the first PSN.
  void start(const RcParameters& parameters, Psn first_psn);
  /// False if it is longer than 2^32 - 1 bytes, the queue is full or the requester failed.
  bool post(const WriteRequest& request) { return !failed_ && messages_.post(request); }
  /// The next packet, if one may go; it counts as sent at `now`.
  std::optional<RcPacket> next_packet(FabricTime now);
  /// Is there a packet that waits for the port alone?
  bool ready(FabricTime now) const { return sendable() && may_start() <= now; }

  /// Feedback. kNone: accepted; else why it was refused.
  Refusal on_acknowledge(const Aeth& aeth, Psn psn, FabricTime now);
  /// The answer to a READ or an atomic.
  Refusal on_response(const MrcPacket& packet, FabricTime now);
  void on_cnp(FabricTime now);

  static Bytes wire_bytes(const RcPacket& packet);
  // The limiter is the queue pair's: what its responder answers with data keeps to it as well.
  FabricTime may_answer() const {
    return limiter_ ? limiter_->earliest_start() : FabricTime::zero();
  }
  void note_answer(Bytes on_wire, FabricTime now) {
    if (limiter_) limiter_->on_sent(on_wire, now);
  }

  /// The earliest instant at which something is due or a packet may go that may not go yet.
  FabricTime deadline(FabricTime now) const;
  void on_timer(FabricTime now);

  /// Ends the requester, for a reason that must outlive it. Everything outstanding is flushed.
  void fail(std::string_view reason) { fail_because(reason, std::nullopt); }
  /// The same, but the oldest work has the reason as its status, also where no packet of it has left.
  void fail_oldest(std::string_view reason);
  bool failed() const { return failed_; }
  bool has_work() const { return !messages_.empty(); }
  Sequence acknowledged() const { return acknowledged_; }
  /// The rate that DCQCN allows; the line's without it.
  BitRate rate(FabricTime now) { return limiter_ ? limiter_->rate(now) : parameters_.line; }

 private:
  /// Packets that a selective sender retransmits because of a NAK.
  struct Repair {
    Sequence from = 0, end = 0;
    bool empty() const { return from >= end; }
    Sequence count() const { return end - from; }
  };

  bool sendable() const;
  uint32_t window() const;
  FabricTime may_start() const;
  bool in_flight() const { return acknowledged_ < sent_end_; }
  /// Was it sent, and has to go again?
  bool waits_to_go(Sequence s) const { return next_ <= s || (again_.from <= s && s < again_.end); }
  FabricTime timeout_at() const;
  Refusal on_not_ready(uint8_t syndrome, Sequence s, FabricTime now);
  void cover_before(Sequence s, FabricTime now);
  bool advance(FabricTime now);
  void ask_again(Sequence missing, FabricTime now);
  void send_again_from(Sequence s, std::string_view cause, FabricTime now);
  void repair_from(Sequence s);
  /// `culprit`: a packet of the work that caused the failure, if one did; that has the reason as status.
  void fail_because(std::string_view reason, std::optional<Sequence> culprit);
  bool asks(Sequence s, bool last_of_message, FabricTime now);

  RcParameters parameters_;
  PsnSpace psns_;
  RcRequesterEvents& events_;
  HostStats& stats_;
  RcMessages messages_;
  std::optional<DcqcnLimiter> limiter_;
  Sequence covered_ = 0;       ///< everything before it has arrived there
  Sequence acknowledged_ = 0;  ///< everything before it has, and was answered
  Sequence next_ = 0;
  Sequence sent_end_ = 0;                  ///< behind the last packet that was ever sent
  Repair again_;                           ///< selective: packets that go before next_
  Repair repair_;                          ///< selective: those of the last NAK, sent or not
  std::optional<Sequence> nak_seen_;       ///< since the last progress or timeout
  FabricTime progress_;                    ///< the timer runs from here
  FabricTime asked_;                       ///< when an acknowledgement was last asked for
  FabricTime not_before_;                  ///< of "receiver not ready"
  uint32_t timeouts_ = 0, not_ready_ = 0;  ///< in a row
  /// A NAK that ends the queue pair when answers before it are here.
  struct Doom {
    Sequence at = 0;
    std::string_view reason;
  };
  std::optional<Doom> doom_;
  bool failed_ = false;
};

}  // namespace mrclab::endpoint
