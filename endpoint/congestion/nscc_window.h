#pragma once
// What the two rules of NSCC have in common (nscc.h: as UEC writes it; even_nscc.h: with even shares of
// a last hop): a window per destination in [least, largest], what is in flight, the base RTT, the
// average delay, the receiver's penalty, and what ports that go and come back mean.

#include <algorithm>
#include <cstdint>
#include <optional>

#include "endpoint/congestion/congestion_control.h"
#include "endpoint/congestion/nscc_parameters.h"

namespace mrclab::endpoint {

class NsccWindow : public CongestionControl {
 public:
  void on_refused(Bytes packet, FabricTime now) override;
  void on_withdrawn(Bytes packet) override { leave_flight(packet); }
  void on_live_ports(uint32_t count) override;
  Bytes window() const final { return window_; }
  Bytes in_flight() const final { return in_flight_; }

  Bytes max_window() const { return max_window_; }
  FabricTime base_rtt() const { return base_rtt_; }
  FabricTime average_delay() const { return average_delay_; }
  const NsccParameters& parameters() const { return p_; }

 protected:
  /// While this lives, all reductions of the window count as one cut for its cause, also those made
  /// by functions that have a cause of their own.
  class Cutting {
   public:
    Cutting(NsccWindow& window, WindowCut cause)
        : of_(window), cause_(cause), outer_(window.is_cutting_), before_(window.window_) {
      of_.is_cutting_ = true;
    }
    ~Cutting() {
      of_.is_cutting_ = outer_;
      if (!outer_ && of_.window_ < before_) of_.ledger().cut(cause_, before_ - of_.window_);
    }
    Cutting(const Cutting&) = delete;
    Cutting& operator=(const Cutting&) = delete;

   private:
    NsccWindow& of_;
    WindowCut cause_;
    bool outer_;
    Bytes before_;
  };
  static WindowCut cause_of(TrimmedAt where) {
    return where == TrimmedAt::kFabric ? WindowCut::kTrims : WindowCut::kLastHopTrims;
  }
  void describe(WindowRecord& record) const override;

  /// `live_ports` lead to the destination. Starts at line rate: the window is the largest.
  /// `least_share`: the least window is a packet divided by this. `profile` outlives it.
  NsccWindow(const TransportProfile& profile, uint32_t live_ports, uint32_t least_share);

  const TransportProfile& profile() const { return profile_; }
  FabricTime target_delay() const { return profile_.nscc_target_delay; }
  /// The queue delay that a round trip shows. A full packet's may lower the base RTT.
  FabricTime queue_delay_of(const RttSample& sample);
  bool apply_penalty(const Acknowledgement& news, Bytes of);
  bool path_is_clear(Bytes arrived, FabricTime delay);
  void multiplicative_decrease(FabricTime now);
  void enter_flight(Bytes packet) { in_flight_ += packet; }
  void leave_flight(Bytes packet);
  void grow(Bytes by) { window_ += by; }
  void shrink(Bytes by);
  void set_window(Bytes to) { window_ = to; }
  void keep_a_packet(Bytes before);
  void clamp();
  void move_average(FabricTime step) { average_delay_ += step; }

 private:
  Bytes largest() const;
  Bytes least() const { return std::clamp(max_window_ / kSenders, p_.mtu / least_share_, p_.mtu); }
  static constexpr uint64_t kSenders =
      1024;  // senders whose least windows fit in front of one host

  const TransportProfile& profile_;
  uint32_t ports_;
  uint32_t least_share_;
  NsccParameters p_;  // for ports_
  Bytes window_;
  Bytes max_window_;
  Bytes in_flight_;
  FabricTime base_rtt_;  // the smallest measured, at most the configured one
  FabricTime average_delay_;
  FabricTime last_decrease_;
  Bytes clear_bytes_;  // arrived in a row without delay
  bool increasing_ = false;
  std::optional<Bytes> saved_window_;  // from before the receiver's penalty
  bool is_cutting_ = false;
};

}  // namespace mrclab::endpoint
