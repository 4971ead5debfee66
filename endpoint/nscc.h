#pragma once
// NSCC, the sender's congestion control of MRC: it takes UET's as it is (MRC specification §8; UEC
// transport 1.0, §3.6.13; the arithmetic is that of the UEC's htsim). A window per destination,
// shared by the queue pairs to it and by all planes. For every SACK:
//
//   ECN  queue delay    action
//    no   < T           proportional increase; on an empty path fast increase
//    no   >= T          fair increase
//    yes  >= T          multiplicative decrease, at most once per base RTT
//    yes  < T           nothing: the mark has moved the load to other entropy values already
//
// Queue delay = round trip - base RTT, T = target delay. Increases are collected and applied every
// adjust_bytes or adjust period. A trim takes the packet's size from the window, or triggers quick
// adapt: a window far beyond what arrives (less than the maximum >> gate within base RTT + T) is
// set to what arrives, and the marks and trims of what was in flight then are ignored. An inferred
// loss takes the packet's size. The window stays within [MTU, maximum window].
//
// Round trips come from the send-time table of the queue pair, not from the reflected timestamp
// alone: it is exact (the timestamp has steps of 128 ns) and cannot be forged; see
// Requester::on_trigger. A SACK without a valid one is judged by the average delay.
//
// Not done yet: the service time of the responder (SVC_TIME capability) is not subtracted; ours
// answers at once.

#include <cstdint>
#include <optional>

#include "endpoint/congestion_control.h"
#include "endpoint/nscc_parameters.h"

namespace mrclab::endpoint {

class Nscc : public CongestionControl {
 public:
  /// `live_ports` lead to the destination. Starts at line rate: the window is the largest.
  Nscc(const TransportProfile& profile, uint32_t live_ports);

  bool may_send(Bytes packet) const override;
  bool wants_acknowledgement() const override;
  void on_sent(Bytes packet) override { in_flight_ += packet; }
  void on_acknowledged(const Acknowledgement& news, FabricTime now) override;
  void on_trimmed(Bytes packet, FabricTime now) override;
  void on_lost(Bytes packet, FabricTime now) override;
  void on_withdrawn(Bytes packet) override;
  void on_live_ports(uint32_t count) override;
  Bytes window() const override { return window_; }
  Bytes in_flight() const override { return in_flight_; }

  Bytes max_window() const { return max_window_; }
  FabricTime base_rtt() const { return base_rtt_; }
  FabricTime average_delay() const { return average_delay_; }
  const NsccParameters& parameters() const { return p_; }

 private:
  FabricTime take_sample(const Acknowledgement& news);
  void average(FabricTime delay, bool marked);
  bool apply_penalty(const Acknowledgement& news);
  bool quick_adapt(bool trimmed, bool marked, FabricTime delay, FabricTime now);
  void proportional_increase(Bytes arrived, FabricTime delay);
  bool fast_increase(Bytes arrived, FabricTime delay);
  void multiplicative_decrease(FabricTime now);
  void adjust(FabricTime now);
  void leave_flight(Bytes packet);
  void shrink(Bytes by);
  void clamp();
  Bytes largest() const;

  TransportProfile profile_;
  uint32_t ports_;
  NsccParameters p_;  // for ports_

  Bytes window_;
  Bytes max_window_;
  Bytes in_flight_;
  FabricTime base_rtt_;  // the smallest measured, at most the configured one
  FabricTime average_delay_;

  unsigned __int128 increase_ = 0;  // bytes x bytes, collected since the last adjustment
  Bytes received_;                  // since the last adjustment
  FabricTime last_adjust_;
  FabricTime last_decrease_;
  Bytes clear_bytes_;  // arrived in a row without delay
  bool increasing_ = false;

  FabricTime qa_end_;  // zero: no period has begun
  Bytes achieved_;     // in this period of quick adapt
  Bytes to_ignore_;
  Bytes ignored_;
  bool trigger_qa_ = false;

  std::optional<Bytes> saved_window_;  // from before the receiver's penalty
};

}  // namespace mrclab::endpoint
