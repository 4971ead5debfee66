#include "endpoint/congestion/nscc_window.h"

#include <algorithm>
#include <cassert>

namespace mrclab::endpoint {

namespace {

using Wide = unsigned __int128;

constexpr uint32_t kPenaltyShift = 7;  // rcv_cwnd_pen is in 1/128 (MRC specification, CC_STATE)

}  // namespace

NsccWindow::NsccWindow(const TransportProfile& profile, uint32_t live_ports, uint32_t least_share)
    : profile_(profile),
      ports_(live_ports),
      least_share_(least_share),
      p_(nscc_parameters(profile, live_ports)),
      window_(p_.max_window),
      max_window_(p_.max_window),
      base_rtt_(profile.nscc_base_rtt) {}

FabricTime NsccWindow::queue_delay_of(const RttSample& sample) {
  // The base RTT is that of packets of full size; a short one would set it too low.
  if (sample.full_size && sample.rtt < base_rtt_) {
    base_rtt_ = sample.rtt;
    max_window_ = largest();
    // The window shrinks in clamp(), after this answer has been dealt with.
    if (window_ > max_window_) ledger().cut(WindowCut::kBaseRtt, window_ - max_window_);
  }
  const FabricTime delay = std::max(sample.rtt - base_rtt_, FabricTime::zero());
  ledger().measured(delay);
  return delay;
}

void NsccWindow::describe(WindowRecord& record) const {
  record.largest = max_window_;
  record.base_rtt = base_rtt_;
  record.target = target_delay();
}

/// The receiver slows its senders down: each SACK takes penalty/128 of what it acknowledges (MRC
/// specification §8, UEC). With restore_cwnd the window from before comes back when the penalty
/// ends. True if this SACK has one.
bool NsccWindow::apply_penalty(const Acknowledgement& news, Bytes of) {
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
  const Cutting cutting(*this, WindowCut::kPenalty);
  const Bytes before = window_;
  shrink({(news.receiver_penalty * of.value) >> kPenaltyShift});
  // To give the window back later, the receiver must get a packet of its senders once a round trip.
  if (news.restore_cwnd) keep_a_packet(before);
  return true;
}

/// The fabric or a full receiver takes no window below a packet: only a last hop can be shared by
/// so many senders.
void NsccWindow::keep_a_packet(Bytes before) {
  window_ = std::max(window_, std::min(before, p_.mtu));
}

void NsccWindow::on_refused(Bytes packet, FabricTime) {
  leave_flight(packet);
  const Cutting cutting(*this, WindowCut::kRefusals);
  const Bytes before = window_;
  shrink(std::min(packet, window_ / 2));
  keep_a_packet(before);
}

/// Has a window's worth arrived in a row without delay?
bool NsccWindow::path_is_clear(Bytes arrived, FabricTime delay) {
  if (delay >= profile_.nscc_clear_delay) {
    clear_bytes_ = {};
    increasing_ = false;
    return false;
  }
  clear_bytes_ += arrived;
  if (clear_bytes_ <= window_ && !increasing_) return false;
  return increasing_ = true;
}

void NsccWindow::multiplicative_decrease(FabricTime now) {
  const Cutting cutting(*this, WindowCut::kMarks);
  increasing_ = false;
  clear_bytes_ = {};
  if (average_delay_ <= profile_.nscc_target_delay || now - last_decrease_ <= base_rtt_) return;
  const auto excess = static_cast<uint64_t>((average_delay_ - profile_.nscc_target_delay).ps());
  const auto cut = static_cast<uint32_t>(Wide{profile_.nscc_gamma.ppb} * excess /
                                         static_cast<uint64_t>(average_delay_.ps()));
  const Probability left{std::max(Probability::kOne - cut, profile_.nscc_max_md_jump.ppb)};
  window_ = {static_cast<uint64_t>(Wide{window_.value} * left.ppb / Probability::kOne)};
  last_decrease_ = now;
}

/// Everything that is derived from the rate follows the ports that are left. The window keeps its
/// share per port (our choice: paths that vanish take their part of what is in flight with them,
/// and ports that come back are empty).
void NsccWindow::on_live_ports(uint32_t count) {
  if (count == ports_) return;
  const Cutting cutting(*this, WindowCut::kPorts);
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

/// 1.5 BDP for the measured base RTT, or the value of the option.
Bytes NsccWindow::largest() const {
  const Wide scaled = Wide{p_.max_window.value} * static_cast<uint64_t>(base_rtt_.ps()) /
                      static_cast<uint64_t>(profile_.nscc_base_rtt.ps());
  return std::max(Bytes{static_cast<uint64_t>(scaled)}, p_.mtu);
}

void NsccWindow::leave_flight(Bytes packet) {
  assert(packet <= in_flight_);
  in_flight_ -= packet;
}

void NsccWindow::shrink(Bytes by) {
  window_ = window_ > by ? window_ - by : Bytes{};
  clamp();
}

void NsccWindow::clamp() { window_ = std::clamp(window_, least(), max_window_); }

}  // namespace mrclab::endpoint
