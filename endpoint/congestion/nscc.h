#pragma once
// NSCC to the letter (`nscc_rules: uec`), the sender's congestion control of MRC: it takes UET's as it is (MRC specification §8; UEC
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
// The time that a packet waited for its receiver's software is subtracted first, if the ends agreed
// on that (SVC_TIME; Requester::service_time).

#include <cstdint>

#include "endpoint/congestion/nscc_window.h"

namespace mrclab::endpoint {

class Nscc : public NsccWindow {
 public:
  Nscc(const TransportProfile& profile, uint32_t live_ports);

  bool may_send(Bytes packet, FabricTime now) const override;
  FabricTime opens_at(Bytes) const override { return FabricTime::never(); }
  bool wants_acknowledgement() const override;
  void on_sent(Bytes packet, FabricTime) override { enter_flight(packet); }
  void on_acknowledged(const Acknowledgement& news, FabricTime now) override;
  void on_trimmed(Sprayed packet, TrimmedAt where, FabricTime now) override;
  void on_lost(Sprayed packet, FabricTime now) override;

 private:
  FabricTime take_sample(const Acknowledgement& news);
  void average(FabricTime delay, bool marked);
  bool quick_adapt(bool trimmed, bool marked, FabricTime delay, FabricTime now);
  void proportional_increase(Bytes arrived, FabricTime delay);
  bool fast_increase(Bytes arrived, FabricTime delay);
  void adjust(FabricTime now);

  unsigned __int128 increase_ = 0;  // bytes x bytes, collected since the last adjustment
  Bytes received_;                  // since the last adjustment
  FabricTime last_adjust_;

  FabricTime qa_end_;  // zero: no period has begun
  Bytes achieved_;     // in this period of quick adapt
  Bytes to_ignore_;
  Bytes ignored_;
  bool trigger_qa_ = false;
};

}  // namespace mrclab::endpoint
