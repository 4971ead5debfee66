#pragma once
// A window of a fixed share of (line rate of the live ports x base RTT). Trims, marks and losses
// reduce nothing. For comparison with NSCC (`transport: {congestion_control: fixed}`) and for
// tests of other things.

#include "endpoint/congestion/congestion_control.h"

namespace mrclab::endpoint {

class FixedWindow : public CongestionControl {
 public:
  FixedWindow(BitRate port_rate, FabricTime base_rtt, uint32_t percent, uint32_t ports)
      : per_port_{bytes_in(port_rate, base_rtt).value * percent / 100} {
    on_live_ports(ports);
  }
  bool may_send(Bytes packet, FabricTime) const override {
    // An empty window always takes one packet, or a tiny one would never move.
    return in_flight_.value == 0 || in_flight_ + packet <= window_;
  }
  FabricTime opens_at(Bytes) const override { return FabricTime::never(); }
  /// The requester asks by itself when no further packet may go.
  bool wants_acknowledgement() const override { return false; }
  void on_sent(Bytes packet, FabricTime) override { in_flight_ += packet; }
  void on_acknowledged(const Acknowledgement& news, FabricTime) override {
    in_flight_ -= news.left_flight;
  }
  void on_trimmed(Sprayed packet, TrimmedAt, FabricTime) override { in_flight_ -= packet.size; }
  void on_lost(Sprayed packet, FabricTime) override { in_flight_ -= packet.size; }
  void on_refused(Bytes packet, FabricTime) override { in_flight_ -= packet; }
  void on_withdrawn(Bytes packet) override { in_flight_ -= packet; }
  void on_live_ports(uint32_t count) override { window_ = {per_port_.value * count}; }
  Bytes window() const override { return window_; }
  Bytes in_flight() const override { return in_flight_; }

 private:
  Bytes per_port_;
  Bytes window_;
  Bytes in_flight_;
};

}  // namespace mrclab::endpoint
