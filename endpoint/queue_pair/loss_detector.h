#pragma once
// The time rule of loss detection, after RACK (RFC 8985 §6.2): a packet is lost when one that was
// sent at least a reorder window later has arrived. Fits spraying, where the order of
// PSNs is no sign. It gets only transmissions of which it is certain that they are the ones that arrived.
//
// The window adapts: a loss that turns out to have been none widens it by a quarter of the base RTT
// (RFC 8985 §6.2 step 4), at most once per base RTT, up to what queues can explain. Every sixteen
// base RTTs without another it goes back a step (our choice; RFC 8985 waits for 16 recoveries).

#include <algorithm>

#include "fabric/base/units.h"

namespace mrclab::endpoint {

class LossDetector {
 public:
  struct Limits {
    FabricTime base_rtt;
    FabricTime least;  ///< reorder window to begin with
    FabricTime most;
  };
  static constexpr int64_t kRttsPerStepBack = 16;

  explicit LossDetector(const Limits& limits)
      : limits_(limits), newest_arrived_(FabricTime::from_ps(-1) - limits.most) {}

  void on_arrived(FabricTime sent) { newest_arrived_ = std::max(newest_arrived_, sent); }
  void on_spurious(FabricTime now) {
    if (extra_ > FabricTime::zero() && now - widened_ < limits_.base_rtt) return;
    extra_ = std::min(window(now) + limits_.base_rtt / 4, limits_.most) - limits_.least;
    widened_ = now;
  }

  FabricTime window(FabricTime now) const {
    if (extra_ <= FabricTime::zero()) return limits_.least;
    const int64_t steps_back = (now - widened_).ps() / (limits_.base_rtt.ps() * kRttsPerStepBack);
    const int64_t most_steps = extra_.ps() / (limits_.base_rtt.ps() / 4) + 1;
    const FabricTime back = limits_.base_rtt / 4 * std::min(steps_back, most_steps);
    return limits_.least + std::max(extra_ - back, FabricTime::zero());
  }

  bool is_lost(FabricTime sent, FabricTime now) const {
    return is_lost_by(sent, newest_arrived_, now);
  }
  /// The same, with another packet as witness that was sent at `witness` and arrived.
  bool is_lost_by(FabricTime sent, FabricTime witness, FabricTime now) const {
    return sent + window(now) <= witness;
  }

 private:
  Limits limits_;
  FabricTime newest_arrived_;
  FabricTime extra_;    // beyond the least window, as of widened_
  FabricTime widened_;  // the last time
};

}  // namespace mrclab::endpoint
