#pragma once
// How much may be in flight to one destination, over all its queue pairs and planes. The window
// belongs to the destination, not to the queue pair (MRC: QPCC). nscc.h is MRC's algorithm to the
// letter, even_nscc.h our variant of it, fixed_window.h a window that reacts to nothing.
//
// Sizes are nominal packet sizes (kNominalHeaderBytes). What is reported as leaving flight was reported
// to on_sent() before: the queue pairs take it from their own tables, never from a packet.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>

#include "endpoint/base/transport_profile.h"
#include "endpoint/congestion/window_ledger.h"
#include "endpoint/paths/plane_shares.h"
#include "endpoint/paths/plane_turn.h"
#include "fabric/base/units.h"

namespace mrclab::endpoint {

/// Header bytes that count per packet beside its payload: UDP length + 40, as UEC's nominal packet
/// size: UDP 8, BTH 12, METH 4, TSETH 4, RETH 16, ICRC 4, and 40.
inline constexpr uint64_t kNominalHeaderBytes = 88;

/// A round trip of a packet whose answer certainly belongs to this transmission.
struct RttSample {
  FabricTime rtt;
  bool full_size = true;  ///< the packet was of PMTU size, as the base RTT is defined
  uint32_t plane = 0;     ///< plane that the packet took
};

/// A packet that was in flight.
struct Sprayed {
  Bytes size;
  uint32_t plane = 0;
};

/// The news of one SACK or transport ACK.
struct Acknowledgement {
  Bytes arrived;        ///< bytes newly seen to have arrived, also of packets once held for lost
  Bytes left_flight;    ///< bytes of `arrived` that counted as in flight
  bool marked = false;  ///< M: the packet that triggered the SACK had an ECN mark
  std::optional<RttSample> rtt;
  uint8_t receiver_penalty = 0;  ///< CC_STATE rcv_cwnd_pen, 0..127
  bool restore_cwnd = false;     ///< CC_STATE restore_cwnd
};

class CongestionControl {
 public:
  virtual ~CongestionControl() = default;
  virtual bool may_send(Bytes packet, FabricTime now) const = 0;
  /// When a packet may go although no answer comes: a window of less than a packet is paced. never(): not before
  /// something leaves flight, as always where the window is not paced.
  virtual FabricTime opens_at(Bytes packet) const = 0;
  /// Does the window let packets go by the clock instead of by acknowledgements?
  virtual bool is_paced() const { return false; }
  /// After on_sent(): the packet is to ask for an acknowledgement (BTH.A).
  virtual bool wants_acknowledgement() const = 0;
  virtual void on_sent(Bytes packet, FabricTime now) = 0;
  virtual void on_acknowledged(const Acknowledgement& news, FabricTime now) = 0;
  enum class TrimmedAt : uint8_t { kFabric, kLastHop };
  /// A trim NACK: congestion.
  virtual void on_trimmed(Sprayed packet, TrimmedAt where, FabricTime now) = 0;
  /// The loss was inferred from other packets or from silence.
  virtual void on_lost(Sprayed packet, FabricTime now) = 0;
  /// A NACK because the receiver lacked resources: it asks for less at a time, whatever the paths are like.
  virtual void on_refused(Bytes packet, FabricTime now) = 0;
  /// Leaves flight for a reason that is no sign of network or receiver: the queue pair is gone,
  /// or a port is down.
  virtual void on_withdrawn(Bytes packet) = 0;
  /// The number of ports that can carry traffic at once has changed: those that are up at both
  /// ends, or at the end that has fewer.
  virtual void on_live_ports(uint32_t count) = 0;
  /// Was the path of that packet late while others of its plane were on time? Then the choice of paths
  /// leaves it, and the window stays. Call it after on_acknowledged().
  virtual bool is_path_late(const RttSample&, FabricTime) const { return false; }
  virtual Bytes window() const = 0;
  virtual Bytes in_flight() const = 0;
  /// Does its sender ignore congestion? Then queue pairs report to the window neither marks, round trips and losses, nor the
  /// receiver's penalty.
  bool heedless() const { return heedless_; }
  void set_heedless(bool heedless) { heedless_ = heedless; }
  /// So many queue pairs have this destination.
  void share_among(uint32_t queue_pairs) { queue_pairs_ = std::max(queue_pairs, 1u); }
  /// The bytes that one of these queue pairs may have sent without an answer to come (our choice). A
  /// receiver answers each queue pair once per 16 KiB (UEC): sixteen queue pairs that wait for that have
  /// more in flight than a BDP of 140,000 bytes, and reached 56 Gb/s of 100. So they may all together
  /// wait with a quarter of the window.
  Bytes most_unanswered() const { return window() / (uint64_t{4} * queue_pairs_); }
  PlaneTurn& plane_turn() { return turn_; }
  PlaneShares& planes() { return planes_; }
  const PlaneShares& planes() const { return planes_; }

  /// Has an answer or a reduction been counted since take_record()?
  bool has_news() const { return ledger_.has_news(); }
  /// The state of the window and what happened to it since the last call, without time and peer,
  /// which it does not have.
  WindowRecord take_record() {
    WindowRecord record = ledger_.take_record();
    record.window = window();
    record.in_flight = in_flight();
    describe(record);
    return record;
  }

 protected:
  WindowLedger& ledger() { return ledger_; }
  /// Adds members that only this algorithm has.
  virtual void describe(WindowRecord&) const {}

 private:
  uint32_t queue_pairs_ = 1;
  bool heedless_ = false;
  PlaneTurn turn_;
  PlaneShares planes_;
  WindowLedger ledger_;
};

}  // namespace mrclab::endpoint
