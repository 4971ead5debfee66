#pragma once
// How much may be in flight to one destination, over all its queue pairs and planes. The window
// belongs to the destination, not to the queue pair (MRC: QPCC); NSCC will implement this
// interface.

#include <cstdint>

#include "fabric/units.h"

namespace mrclab::endpoint {

/// Header bytes that count per packet beside its payload: UDP length + 40, as UEC's nominal packet
/// size: UDP 8, BTH 12, METH 4, TSETH 4, RETH 16, ICRC 4, and 40.
inline constexpr uint64_t kNominalHeaderBytes = 88;

class CongestionControl {
 public:
  virtual ~CongestionControl() = default;
  virtual bool may_send(Bytes packet) const = 0;
  virtual void on_sent(Bytes packet) = 0;
  /// A packet in flight is known to have arrived. `marked`: its SACK carried an ECN mark.
  virtual void on_acknowledged(Bytes packet, FabricTime now, FabricTime rtt, bool marked) = 0;
  virtual void on_trimmed(Bytes packet, FabricTime now) = 0;
  virtual void on_lost(Bytes packet, FabricTime now) = 0;
  /// Ports that are up at both ends have changed.
  virtual void on_live_ports(uint32_t count) = 0;
};

/// A fixed window: a share of (line rate of the live ports x base RTT). Trims and marks reduce
/// nothing. Stands in until NSCC.
class FixedWindow : public CongestionControl {
 public:
  FixedWindow(BitRate port_rate, FabricTime base_rtt, uint32_t percent, uint32_t ports)
      : per_port_{bytes_in(port_rate, base_rtt).value * percent / 100} {
    on_live_ports(ports);
  }
  bool may_send(Bytes packet) const override {
    // An empty window always takes one packet, or a tiny one would never move.
    return in_flight_.value == 0 || in_flight_ + packet <= window_;
  }
  void on_sent(Bytes packet) override { in_flight_ += packet; }
  void on_acknowledged(Bytes packet, FabricTime, FabricTime, bool) override {
    in_flight_ -= packet;
  }
  void on_trimmed(Bytes packet, FabricTime) override { in_flight_ -= packet; }
  void on_lost(Bytes packet, FabricTime) override { in_flight_ -= packet; }
  void on_live_ports(uint32_t count) override { window_ = {per_port_.value * count}; }
  Bytes in_flight() const { return in_flight_; }
  Bytes window() const { return window_; }

 private:
  Bytes per_port_;
  Bytes window_;
  Bytes in_flight_;
};

}  // namespace mrclab::endpoint
