#pragma once
// How a receiver makes its senders share its ports evenly (our choice; MRC only has the field for it).
//
// A receiver is the only one that sees who has how much of its last hop. It counts what each sender's
// packets come to, trimmed ones at their full length, by periods of one base RTT, as a moving average.
// While its ports are full, of data or of anything else, or the way from there to its memory is
// (receive_buffer.h), every SACK asks its sender for a penalty (CC_STATE rcv_cwnd_pen: 128ths of what is
// acknowledged that leave the window) in proportion to the sender's share:
//
//   penalty per round trip = 1 / (2 x memory) x share / mean share     at most a quarter
//   memory = periods in which the mean sender sends two packets, 4 to 64
//
// All senders grow alike while delay is below target (even_nscc.h), so each one's rate comes to rest
// where its penalty equals that growth: at the same rate. A deviation decays within two memories; the loop does not
// ring, as gain x memory = 1/2 (damping 0.7). What a SACK cannot carry in whole 128ths is carried over to the next.
//
// Senders that have less to send than the mean share pay for it no more than the others: when the ports
// are not full, the receiver asks no sender for a penalty.

#include <cstdint>
#include <vector>

#include "fabric/base/host_index.h"
#include "fabric/base/units.h"

namespace mrclab::endpoint {

class ReceiveShares {
 public:
  /// `period`: base RTT. `packet`: wire length of a full one.
  ReceiveShares(FabricTime period, BitRate port_rate, Bytes packet)
      : period_(period), per_port_(bytes_in(port_rate, period)), packet_(packet) {}

  /// A frame of any kind came in. 64 senders whose ways back are probed once per round trip take a
  /// twelfth of a port of 100 Gb/s, so data alone would never fill it.
  void count_frame(Bytes wire_length) { wire_current_ += wire_length.value; }
  /// A data packet of `bytes` on the wire from `host` came in, whole or trimmed, over one of `ports`.
  void arrived(uint32_t host, Bytes bytes, uint32_t ports, FabricTime now) {
    if (now >= period_end_) end_periods(ports, now);
    const uint32_t known = index_of_host_.find(host);
    const uint32_t index = known != HostIndex::kNone ? known : add_sender(host);
    senders_[index].current += bytes.value;
  }
  /// The rate of the host's memory, if it is less than the ports'; zero: unlimited.
  void set_drain(BitRate rate) { drained_ = bytes_in(rate, period_); }
  /// The penalty for the SACK that goes to `host` now: 0 to 32.
  uint8_t penalty(uint32_t host);

 private:
  struct Sender {
    uint64_t current = 0;     // bytes in this period
    uint64_t average = 0;     // bytes per period, times kScale
    uint32_t silent = 0;      // periods in a row without anything
    uint64_t per_packet = 0;  // penalty, in 128ths times kScale
    uint64_t carried = 0;     // penalty that earlier SACKs could not express in whole 128ths
  };
  void end_periods(uint32_t ports, FabricTime now);
  void end_period(Bytes port_capacity);
  uint32_t add_sender(uint32_t host);

  FabricTime period_;
  Bytes per_port_;  // what a port takes in a period
  Bytes drained_;   // what memory takes in a period; zero: anything
  Bytes packet_;
  uint64_t wire_current_ = 0;  // bytes of all frames in this period
  uint64_t wire_average_ = 0;  // and per period, times kScale
  FabricTime period_end_;
  std::vector<Sender> senders_;  // those that ever sent, in the order of their first packets
  HostIndex index_of_host_;      // among them
};

}  // namespace mrclab::endpoint
