#pragma once
// What a NIC holds between its ports and the host's memory (our choice; MRC only defines the fields by
// which a receiver reports it). Packets are acknowledged by SACK when they are in it; transport ACKs and
// receive completions wait until they are in memory (MRC specification §7.5: a SACK may precede the
// placement). Packets leave it in the order in which they came, at the drain rate: PCIe and memory.
//
//   below a quarter full    no request
//   above                   every SACK asks its sender for a penalty (CC_STATE rcv_cwnd_pen), in
//                           128ths: 24, and
//                           64 x (offered - drained) / offered, of the last base RTT, and
//                           32 x what is above a quarter / three quarters of the buffer
//   full                    NACK NO_PKT_BUFFER
//
// The first term is most of what windows grow by in a round trip (even_nscc.h: a quarter), the second
// one halves what is too much with each round trip, the third one empties the buffer; more of it would
// make a buffer of a base RTT at line rate swing. Such a buffer settles at about
// half full. While the drain stands still, and until
// the buffer has been emptied afterwards, SACKs ask senders to restore their window when it is over
// (restore_cwnd): a stall is no sign of how much they may send.

#include <cstdint>

#include "fabric/base/units.h"

namespace mrclab::endpoint {

class ReceiveBuffer {
 public:
  /// A rate of zero drains at once. `period`: base RTT.
  ReceiveBuffer(BitRate rate, Bytes size, FabricTime period)
      : rate_(rate), size_(size), period_(period) {}

  /// Moves the time forward; all functions below refer to this instant.
  void advance(FabricTime now);
  /// Sets the drain rate from now on, or stops the drain.
  void set_rate(BitRate rate);
  void set_stalled(bool stalled);
  BitRate rate() const { return rate_; }

  /// A packet of `payload` came in and has been offered the room that is left. An empty buffer takes
  /// any packet.
  bool offer(Bytes payload);
  /// Bytes taken so far, and those of them that are in memory.
  Bytes taken() const { return {taken_}; }
  Bytes in_memory() const { return {in_memory_}; }
  Bytes held() const { return {taken_ - in_memory_}; }
  /// When the first `count` bytes that were taken are in memory; never() while it is stalled.
  FabricTime in_memory_at(Bytes count) const;

  /// The penalty for the next SACK: 0 to 127 (rcv_cwnd_pen), and whether the window comes back
  /// afterwards. `of_share`: the part asked for the sake of other senders, which counts towards the
  /// term for growth.
  uint8_t penalty(uint8_t of_share = 0) const;
  bool asks_to_restore() const { return stall_; }

 private:
  bool at_once() const { return rate_.bps == 0 && !stalled_; }
  void end_period();

  BitRate rate_;
  Bytes size_;
  FabricTime period_;
  bool stalled_ = false;
  bool stall_ = false;  // since the drain stood still the buffer has not been below a quarter
  FabricTime now_;
  FabricTime since_;             // the drain has had this rate, and something to do, since then
  uint64_t in_memory_then_ = 0;  // bytes
  uint64_t taken_ = 0;           // bytes, since the start
  uint64_t in_memory_ = 0;       // bytes that have reached memory
  FabricTime period_end_;
  uint64_t offered_ = 0;  // bytes in this period
  uint64_t excess_ = 0;   // 64 x (offered - drained) / offered in the last period
};

}  // namespace mrclab::endpoint
