#pragma once
// The receiving half of a queue pair: places payload wherever it belongs, in any order, and
// answers.
//
//   new in window       -> buffer and bitmap; SACK if triggered; transport ACK at message ends, when
//                          all up to there is in memory
//   no room for it      -> NACK NO_PKT_BUFFER or NO_BITMAP, and SACK; neither memory nor bitmap change
//   duplicate           -> SACK; at or below cumulative also a transport ACK; no memory write
//   ahead of the window -> NACK PSN_OOR_WINDOW          far past -> dropped
//   trimmed             -> NACK TRIMMED or TRIMMED_LASTHOP; only its PSN can be trusted
//   bad rkey or bounds  -> transport NAK "remote access error"; neither memory nor bitmap change
//   payload does not fit opcode or message -> transport NAK "invalid request"
//
// Write-with-Immediate is reported in the order of PSNs, after everything before it is in memory
// (MRC specification §7; the window keeps immediates that are early). Each uses up a receive. More
// of them in flight than agreed, or one without a receive, end the queue pair: NAK, and `failure`.

#include <cstdint>
#include <optional>
#include <string_view>

#include "endpoint/base/application.h"
#include "endpoint/base/connection_attributes.h"
#include "endpoint/base/host_stats.h"
#include "endpoint/base/memory_registry.h"
#include "endpoint/base/receive_queue.h"
#include "endpoint/base/transport_profile.h"
#include "endpoint/queue_pair/bitmap_pool.h"
#include "endpoint/queue_pair/message_order.h"
#include "endpoint/queue_pair/receive_buffer.h"
#include "endpoint/queue_pair/receive_window.h"
#include "endpoint/queue_pair/sack_generator.h"
#include "fabric/base/fifo.h"
#include "fabric/packet/headers.h"

namespace mrclab::endpoint {

/// Gets what happened to a responder, in order.
class ResponderEvents {
 public:
  virtual ~ResponderEvents() = default;
  virtual void immediate_received(const ReceiveCompletion& completion) = 0;
};

/// The packets to send back, at most one of each kind, and whether the queue pair then has to fail.
struct Replies {
  std::optional<Seth> sack;
  std::optional<Neth> nack;
  std::optional<Aeth> ack;
  Psn ack_psn;
  std::optional<Aeth> nak;
  Psn nak_psn;
  std::string_view failure;  ///< not empty: the queue pair's error
  bool any() const { return sack || nack || ack || nak || !failure.empty(); }
};

/// Resources that all responders of a NIC share.
struct ReceiveResources {
  explicit ReceiveResources(const TransportProfile& profile)
      : buffer(profile.receive_rate, {profile.receive_buffer}, profile.base_rtt),
        bitmaps(profile.receive_bitmaps) {}
  ReceiveBuffer buffer;
  BitmapPool bitmaps;
};

class Responder {
 public:
  /// `resources` stand at the instant of the packet in hand (ReceiveBuffer::advance). They, `profile`, `memory`,
  /// `events` and `stats` outlive it.
  Responder(const TransportProfile& profile, const DirectionLimits& limits, Psn first_psn,
            const MemoryRegistry& memory, ReceiveResources& resources, ResponderEvents& events,
            HostStats& stats);
  ~Responder() { give_up_resources(); }
  Responder(const Responder&) = delete;
  Responder& operator=(const Responder&) = delete;

  /// A write packet that was addressed here and whose ICRC is right, or a trimmed one. Returns why
  /// it was refused, or kNone. `placed` is set to the payload bytes that are new in memory. Flat, as it is a
  /// dozen short steps of several classes; what few packets need is kept out of it.
  [[gnu::flatten]] Refusal on_write(const MrcPacket& packet, Replies& replies, uint64_t& placed);
  void on_probe(const MrcPacket& packet, Replies& replies);
  /// Are there message ends whose last packets are not in memory yet? Call on_memory() when they are.
  bool waits_for_memory() const { return !ends_.empty(); }
  void on_memory(Replies& replies);
  /// To be called when the queue pair has failed or is gone: nothing more is reported, and its bitmaps
  /// are free for others.
  void give_up_resources();
  /// The answer to a write when the queue pair has failed: UNEXP_EVENT, so that the peer need not
  /// run out of retries first (our choice).
  Neth answer_of_failed(const MrcPacket& packet) const {
    return nack(NackReason::kUnexpectedEvent, packet);
  }

  /// The answer to a probe when the queue pair has failed: the NAK that ended it once more, as the
  /// first one may have been lost and nothing else would repeat it; or one for the newest packet.
  void on_probe_of_failed(Replies& replies) const;

  /// Dynamic MPR: from now on SACKs ask the sender to keep to this range, in units of 128 PSNs. At
  /// least 1 and at most what was agreed; no effect unless both ends have dynamic MPR. What is
  /// under way already is still taken: the bitmap does not shrink.
  void ask_for_range(uint32_t units);

  ReceiveQueue& receives() { return shared_ != nullptr ? *shared_ : receives_; }
  /// From now on receives come from a queue that others use as well, which outlives it.
  void share_receives(ReceiveQueue& queue) { shared_ = &queue; }
  bool shares_receives() const { return shared_ != nullptr; }
  /// What the peer may do, and to the regions of which protection domain.
  void set_access(AccessFlags allowed, uint32_t domain) {
    allowed_ = allowed;
    domain_ = domain;
  }

  const ReceiveWindow& window() const { return window_; }
  /// Has the peer asked how long its packets waited for us (SVC_TIME)?
  bool gives_service_time() const { return limits_.service_time; }

 private:
  [[gnu::noinline]] Refusal on_trimmed(const MrcPacket& packet, Sequence s, Replies& replies);
  bool length_fits(const MrcPacket& packet, const Reth& reth) const;
  MemoryRegistry::Target target_of(const Reth& reth, size_t length) const;
  [[gnu::noinline]] Neth nack(NackReason reason, const MrcPacket& packet) const;
  [[gnu::noinline]] Seth sack(Sequence s, const SackTrigger& trigger);
  void advertise_range();
  /// Takes room for a packet; kNone, or the reason why the NIC has none.
  Refusal take_room(const MrcPacket& packet, Sequence s, Replies& replies);
  [[gnu::noinline]] Refusal refuse(NackReason reason, const MrcPacket& packet, Sequence s,
                                   Replies& replies);
  uint32_t bitmaps_needed() const;
  [[gnu::noinline]] void put_ack(Replies& replies) const;
  [[gnu::noinline]] void put_nak(uint8_t syndrome, Sequence s, Replies& replies);
  [[gnu::noinline]] void put_nak_once(uint8_t syndrome, Sequence s, const MrcPacket& packet,
                                      Replies& replies);
  bool too_many_immediates(const MrcPacket& packet) const;
  /// False if the packets that are now in do not make whole messages.
  bool complete_messages(Replies& replies);

  /// The end of a message that is complete, but not in memory.
  struct PendingEnd {
    Bytes taken;        ///< bytes that the buffer had taken up to its last packet
    Sequence sequence;  ///< everything up to here is in
    ReceiveWindow::MessageEnd end;
  };
  [[gnu::noinline]] bool report_ends(Replies& replies);

  const TransportProfile& profile_;
  DirectionLimits limits_;
  PsnSpace psns_;
  const MemoryRegistry& memory_;
  ReceiveResources& resources_;
  ResponderEvents& events_;
  HostStats& stats_;
  ReceiveWindow window_;
  MessageOrder order_;
  SackGenerator sacks_;
  ReceiveQueue receives_;
  ReceiveQueue* shared_ = nullptr;
  AccessFlags allowed_ = AccessFlags::all();
  uint32_t domain_ = 0;
  Fifo<PendingEnd> ends_;
  uint32_t asked_range_ = kMaxMprUnits;
  uint32_t bitmaps_held_ = 0;
  struct SentNak {
    uint8_t syndrome = 0;
    Sequence sequence = 0;
  };
  std::optional<SentNak> nak_;  // the newest
  uint32_t messages_ = 0;       // completed: the MSN of transport ACKs
  uint16_t immediates_ = 0;     // completed: the RQMSN of the newest
};

}  // namespace mrclab::endpoint
