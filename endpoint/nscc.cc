#include "endpoint/nscc.h"

#include <algorithm>
#include <cassert>

namespace mrclab::endpoint {

namespace {

using Wide = unsigned __int128;

// Average delay (htsim). A delay above target without a mark is the last hop's, which has no ECN:
// it enters as a quarter of the base RTT, so that only marked delay can cut.
constexpr int64_t kUnmarkedDelayDivisor = 4;
constexpr int64_t kOutlierRtts = 5;  // a delay above 5 base RTTs enters with its own weight
constexpr Probability kOutlierWeight{12'500'000};
constexpr uint32_t kPenaltyShift = 7;  // rcv_cwnd_pen is in 1/128 (MRC specification, CC_STATE)

uint64_t share_of(uint64_t value, Probability share) {
  return static_cast<uint64_t>(Wide{value} * share.ppb / Probability::kOne);
}

}  // namespace

Nscc::Nscc(const TransportProfile& profile, uint32_t live_ports)
    : profile_(profile),
      ports_(live_ports),
      p_(nscc_parameters(profile, live_ports)),
      window_(p_.max_window),
      max_window_(p_.max_window),
      base_rtt_(profile.nscc_base_rtt) {}

bool Nscc::may_send(Bytes packet) const {
  if (profile_.window_rule == WindowRule::kOpen) return window_ > in_flight_;
  return in_flight_.value == 0 || in_flight_ + packet <= window_;
}

/// UEC: when no further packet fits, and always in a window too small for the SACK threshold.
bool Nscc::wants_acknowledgement() const {
  return window_ < in_flight_ + p_.mtu || window_.value < profile_.sack_threshold;
}

void Nscc::on_acknowledged(const Acknowledgement& news, FabricTime now) {
  leave_flight(news.left_flight);
  if (news.arrived.value == 0 && !news.rtt) return;
  received_ += news.arrived;
  achieved_ += news.arrived;
  if (news.marked) ignored_ += news.arrived;
  const FabricTime delay = take_sample(news);
  const bool penalised = apply_penalty(news);
  if (quick_adapt(false, news.marked, delay, now)) return;
  if (news.marked) {
    if (delay >= profile_.nscc_target_delay) multiplicative_decrease(now);
  } else if (!penalised) {
    if (delay >= profile_.nscc_target_delay) {
      increase_ += Wide{p_.fi.value} * news.arrived.value;
    } else if (!fast_increase(news.arrived, delay)) {
      proportional_increase(news.arrived, delay);
    }
  }
  adjust(now);
  clamp();
}

/// The queue delay that this acknowledgement is judged by.
FabricTime Nscc::take_sample(const Acknowledgement& news) {
  if (!news.rtt) return average_delay_;
  // The base RTT is that of packets of full size; a short one would set it too low.
  if (news.rtt->full_size && news.rtt->rtt < base_rtt_) {
    base_rtt_ = news.rtt->rtt;
    max_window_ = largest();
  }
  const FabricTime delay = std::max(news.rtt->rtt - base_rtt_, FabricTime::zero());
  average(delay, news.marked);
  return delay;
}

void Nscc::average(FabricTime delay, bool marked) {
  Probability weight = profile_.nscc_delay_alpha;
  if (!marked && delay > profile_.nscc_target_delay) {
    delay = base_rtt_ / kUnmarkedDelayDivisor;
  } else if (delay > base_rtt_ * kOutlierRtts) {
    weight = kOutlierWeight;
  }
  const __int128 step = static_cast<__int128>((delay - average_delay_).ps()) * weight.ppb;
  average_delay_ += FabricTime::from_ps(static_cast<int64_t>(step / Probability::kOne));
}

/// The receiver slows its senders down: each SACK takes penalty/128 of what it acknowledges (MRC
/// specification §8, UEC). With restore_cwnd the window from before comes back when the penalty
/// ends. While it lasts the window does not grow (our choice: growth would work against it).
bool Nscc::apply_penalty(const Acknowledgement& news) {
  if (!profile_.receiver_penalty) return false;
  if (news.receiver_penalty == 0) {
    if (saved_window_) window_ = std::max(window_, *saved_window_);
    saved_window_.reset();
    clamp();
    return false;
  }
  if (!news.restore_cwnd) {
    saved_window_.reset();
  } else if (!saved_window_) {
    saved_window_ = window_;
  }
  shrink({(news.receiver_penalty * news.arrived.value) >> kPenaltyShift});
  return true;
}

/// True if this feedback has been dealt with: by a new window or by ignoring it.
bool Nscc::quick_adapt(bool trimmed, bool marked, FabricTime delay, FabricTime now) {
  if (profile_.nscc_disable_qa) return false;
  bool done = false;
  if (ignored_ < to_ignore_ && marked) {
    done = true;  // of packets sent before the window was adapted
  } else if (now > qa_end_) {
    const bool wanted = trigger_qa_ || trimmed || delay > profile_.nscc_qa_threshold;
    if (qa_end_ != FabricTime::zero() && wanted &&
        achieved_.value < max_window_.value >> profile_.nscc_qa_gate) {
      // Never upwards: what arrived in base RTT + T may be more than a window (our choice).
      window_ = std::max(std::min(achieved_, window_), p_.mtu);
      to_ignore_ = in_flight_;
      ignored_ = {};
      trigger_qa_ = false;
      done = true;
    }
    achieved_ = {};
    qa_end_ = now + base_rtt_ + profile_.nscc_target_delay;
  }
  if (done) {
    increase_ = 0;
    received_ = {};
  }
  return done;
}

void Nscc::proportional_increase(Bytes arrived, FabricTime delay) {
  const auto room = static_cast<uint64_t>((profile_.nscc_target_delay - delay).ps());
  const auto target = static_cast<uint64_t>(profile_.nscc_target_delay.ps());
  increase_ += Wide{p_.pi.value} * arrived.value * room / target;
}

/// After a window's worth without delay, every byte that arrives adds to the window at once.
bool Nscc::fast_increase(Bytes arrived, FabricTime delay) {
  if (delay >= profile_.nscc_clear_delay) {
    clear_bytes_ = {};
    increasing_ = false;
    return false;
  }
  clear_bytes_ += arrived;
  if (clear_bytes_ <= window_ && !increasing_) return false;
  window_ += {arrived.value * p_.fi_scale_permille / 1000};
  increasing_ = true;
  return true;
}

void Nscc::multiplicative_decrease(FabricTime now) {
  increasing_ = false;
  clear_bytes_ = {};
  if (average_delay_ <= profile_.nscc_target_delay || now - last_decrease_ <= base_rtt_) return;
  const auto excess = static_cast<uint64_t>((average_delay_ - profile_.nscc_target_delay).ps());
  const auto cut = static_cast<uint32_t>(Wide{profile_.nscc_gamma.ppb} * excess /
                                         static_cast<uint64_t>(average_delay_.ps()));
  const Probability left{std::max(Probability::kOne - cut, profile_.nscc_max_md_jump.ppb)};
  window_ = {share_of(window_.value, left)};
  last_decrease_ = now;
}

void Nscc::adjust(FabricTime now) {
  const FabricTime since = now - last_adjust_;
  if (received_.value <= profile_.nscc_adjust_bytes && since <= profile_.nscc_adjust_period) return;
  window_ += {static_cast<uint64_t>(increase_ / std::max<uint64_t>(window_.value, 1))};
  if (since >= profile_.nscc_adjust_period) {
    window_ += p_.eta;
    last_adjust_ = now;
  }
  increase_ = 0;
  received_ = {};
}

/// A trim counts as a marked packet that met one more network RTT of queue (htsim). A trim on the
/// last hop counts the same: without receiver credits nothing else slows an incast (UEC p. 393).
void Nscc::on_trimmed(Bytes packet, FabricTime now) {
  leave_flight(packet);
  ignored_ += packet;
  average(profile_.nscc_base_rtt, true);
  trigger_qa_ = true;
  if (!quick_adapt(true, true, FabricTime::zero(), now)) shrink(packet);
}

void Nscc::on_lost(Bytes packet, FabricTime) {
  leave_flight(packet);
  shrink(packet);
}

void Nscc::on_withdrawn(Bytes packet) { leave_flight(packet); }

/// Everything that is derived from the rate follows the ports that are left. The window keeps its
/// share per port (our choice: paths that vanish take their part of what is in flight with them,
/// and ports that come back are empty).
void Nscc::on_live_ports(uint32_t count) {
  if (count == ports_) return;
  const auto rescaled = [&](Bytes window) { return Bytes{window.value * count / ports_}; };
  const bool from_none = ports_ == 0;
  if (!from_none) {
    window_ = rescaled(window_);
    if (saved_window_) saved_window_ = rescaled(*saved_window_);
  }
  ports_ = count;
  p_ = nscc_parameters(profile_, ports_);
  max_window_ = largest();
  if (from_none) window_ = max_window_;
  clamp();
}

/// 1.5 BDP, or what the option says, of the base RTT that was measured.
Bytes Nscc::largest() const {
  const Wide scaled = Wide{p_.max_window.value} * static_cast<uint64_t>(base_rtt_.ps()) /
                      static_cast<uint64_t>(profile_.nscc_base_rtt.ps());
  return std::max(Bytes{static_cast<uint64_t>(scaled)}, p_.mtu);
}

void Nscc::leave_flight(Bytes packet) {
  assert(packet <= in_flight_);
  in_flight_ -= packet;
}

void Nscc::shrink(Bytes by) {
  window_ = window_ > by ? window_ - by : Bytes{};
  clamp();
}

void Nscc::clamp() { window_ = std::clamp(window_, p_.mtu, max_window_); }

}  // namespace mrclab::endpoint
