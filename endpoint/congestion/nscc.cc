#include "endpoint/congestion/nscc.h"

#include <algorithm>

namespace mrclab::endpoint {

namespace {

using Wide = unsigned __int128;

// Average delay (htsim). A delay above target without a mark is the last hop's, which has no ECN:
// it enters as a quarter of the base RTT, so that only marked delay can cut.
constexpr int64_t kUnmarkedDelayDivisor = 4;
constexpr int64_t kOutlierRtts = 5;  // a delay above 5 base RTTs enters with its own weight
constexpr Probability kOutlierWeight{12'500'000};

}  // namespace

Nscc::Nscc(const TransportProfile& profile, uint32_t live_ports)
    : NsccWindow(profile, live_ports, 1) {}

bool Nscc::may_send(Bytes packet, FabricTime) const {
  if (profile().window_rule == WindowRule::kOpen) return window() > in_flight();
  return in_flight().value == 0 || in_flight() + packet <= window();
}

/// UEC: when no further packet fits, and always in a window too small for the SACK threshold.
bool Nscc::wants_acknowledgement() const {
  return window() < in_flight() + parameters().mtu || window().value < profile().sack_threshold;
}

void Nscc::on_acknowledged(const Acknowledgement& news, FabricTime now) {
  leave_flight(news.left_flight);
  if (news.arrived.value == 0 && !news.rtt) return;
  received_ += news.arrived;
  achieved_ += news.arrived;
  if (news.marked) ignored_ += news.arrived;
  const FabricTime delay = take_sample(news);
  ledger().answered(news.marked, delay >= profile().nscc_target_delay);
  // While the penalty lasts the window does not grow, because growth would undo the penalty (our
  // choice).
  const bool penalised = apply_penalty(news, news.arrived);
  if (quick_adapt(false, news.marked, delay, now)) return;
  if (news.marked) {
    if (delay >= profile().nscc_target_delay) multiplicative_decrease(now);
  } else if (!penalised) {
    if (delay >= profile().nscc_target_delay) {
      increase_ += Wide{parameters().fi.value} * news.arrived.value;
    } else if (!fast_increase(news.arrived, delay)) {
      proportional_increase(news.arrived, delay);
    }
  }
  adjust(now);
  clamp();
}

/// The queue delay by which this acknowledgement is judged.
FabricTime Nscc::take_sample(const Acknowledgement& news) {
  if (!news.rtt) return average_delay();
  const FabricTime delay = queue_delay_of(*news.rtt);
  average(delay, news.marked);
  return delay;
}

void Nscc::average(FabricTime delay, bool marked) {
  Probability weight = profile().nscc_delay_alpha;
  if (!marked && delay > profile().nscc_target_delay) {
    delay = base_rtt() / kUnmarkedDelayDivisor;
  } else if (delay > base_rtt() * kOutlierRtts) {
    weight = kOutlierWeight;
  }
  const __int128 step = static_cast<__int128>((delay - average_delay()).ps()) * weight.ppb;
  move_average(FabricTime::from_ps(static_cast<int64_t>(step / Probability::kOne)));
}

/// True if this feedback has been dealt with: by a new window or by ignoring it.
bool Nscc::quick_adapt(bool trimmed, bool marked, FabricTime delay, FabricTime now) {
  if (profile().nscc_disable_qa) return false;
  const Cutting cutting(*this, WindowCut::kQuickAdapt);
  bool done = false;
  if (ignored_ < to_ignore_ && marked) {
    done = true;  // about packets sent before the window was adapted
  } else if (now > qa_end_) {
    const bool wanted = trigger_qa_ || trimmed || delay > profile().nscc_qa_threshold;
    if (qa_end_ != FabricTime::zero() && wanted &&
        achieved_.value < max_window().value >> profile().nscc_qa_gate) {
      // Never upwards: what arrived in base RTT + T may be more than a window (our choice).
      set_window(std::max(std::min(achieved_, window()), parameters().mtu));
      to_ignore_ = in_flight();
      ignored_ = {};
      trigger_qa_ = false;
      done = true;
    }
    achieved_ = {};
    qa_end_ = now + base_rtt() + profile().nscc_target_delay;
  }
  if (done) {
    increase_ = 0;
    received_ = {};
  }
  return done;
}

void Nscc::proportional_increase(Bytes arrived, FabricTime delay) {
  const auto room = static_cast<uint64_t>((profile().nscc_target_delay - delay).ps());
  const auto target = static_cast<uint64_t>(profile().nscc_target_delay.ps());
  increase_ += Wide{parameters().pi.value} * arrived.value * room / target;
}

/// After a window's worth without delay, every byte that arrives adds to the window at once.
bool Nscc::fast_increase(Bytes arrived, FabricTime delay) {
  if (!path_is_clear(arrived, delay)) return false;
  grow({arrived.value * parameters().fi_scale_permille / 1000});
  return true;
}

void Nscc::adjust(FabricTime now) {
  const FabricTime since = now - last_adjust_;
  if (received_.value <= profile().nscc_adjust_bytes && since <= profile().nscc_adjust_period)
    return;
  grow({static_cast<uint64_t>(increase_ / std::max<uint64_t>(window().value, 1))});
  if (since >= profile().nscc_adjust_period) {
    grow(parameters().eta);
    last_adjust_ = now;
  }
  increase_ = 0;
  received_ = {};
}

/// A trim counts as a marked packet that met one more network RTT of queue (htsim). A trim on the
/// last hop counts the same: without receiver credits nothing else slows an incast (UEC p. 393).
void Nscc::on_trimmed(Sprayed packet, TrimmedAt where, FabricTime now) {
  leave_flight(packet.size);
  ignored_ += packet.size;
  average(profile().nscc_base_rtt, true);
  trigger_qa_ = true;
  if (quick_adapt(true, true, FabricTime::zero(), now)) return;
  const Cutting cutting(*this, cause_of(where));
  shrink(packet.size);
}

void Nscc::on_lost(Sprayed packet, FabricTime) {
  leave_flight(packet.size);
  const Cutting cutting(*this, WindowCut::kLosses);
  shrink(packet.size);
}

}  // namespace mrclab::endpoint
