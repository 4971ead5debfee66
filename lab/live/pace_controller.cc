#include "lab/live/pace_controller.h"

#include <algorithm>

namespace mrclab::lab {
namespace {

constexpr double kSmoothing = 0.25;   // share of a new window in the smoothed margin
constexpr double kCatchUp = 0.25;     // a hold ends when behind by less than this share of L
constexpr double kMostSlower = 1.25;  // per window
constexpr double kMostFaster = 0.85;  // per window
constexpr double kCalibrating = 0.7;  // per window
constexpr double kKeepAway = 1.1;     // from the pace that was too fast
constexpr int64_t kLooksToMeasure = 5;
// The controller lowers the pace that it keeps away from a little after each window without trouble: by this share,
// times the square of (windows without trouble / patience). With a patience of 10 windows 41 % of that pace are
// forgotten after 20 and 83 % after 30; with one of 100, 49 % after 100.
constexpr double kForget = 0.02;
constexpr double kFirstPatience = 10, kMostPatience = 100;  // windows
constexpr double kSamePace = 1.6;  // two paces within this factor of each other count as the same
constexpr uint64_t kEpisode =
    10;  // windows; trouble that follows sooner belongs to the trouble before
constexpr int64_t kShortestTickNs = 100'000;
constexpr int64_t kLongestTickNs = 2'000'000;
constexpr int64_t kTickPerProcessNs =
    15'000;  // 7 % of a processor for wake-ups of 10 us, each one's share

/// Lab nanoseconds that a stretch of fabric time takes.
double lab_ns(FabricTime span, double dilation) {
  return static_cast<double>(span.ps()) * dilation / 1000.0;
}

double dilation_in(int64_t lab_ns, FabricTime span) {
  return 1000.0 * static_cast<double>(lab_ns) /
         static_cast<double>(std::max<int64_t>(1, span.ps()));
}

}  // namespace

PaceDecision PaceController::set(double dilation) {
  dilation_ = std::clamp(dilation, kFastest, kSlowest);
  return {PaceDecision::Kind::kRate, dilation_, {}};
}

double PaceController::margin() const {
  const auto most = static_cast<double>(lookahead_.ps());
  double margin = 1.0 - static_cast<double>(window_behind_.ps()) / most;
  if (window_slack_ns_) {
    margin =
        std::min(margin, static_cast<double>(*window_slack_ns_) / lab_ns(lookahead_, dilation_));
  }
  return std::clamp(margin, -1.0, 1.0);
}

PaceDecision PaceController::step(const PaceInput& input) {
  if (stage_ == Stage::kWaiting) {
    if (input.slowest < FabricTime::zero()) return {};
    stage_ = Stage::kCalibrating;
    window_start_ = input.now;
    return set(kStart);
  }
  const FabricTime reached = std::max(input.slowest, jumped_to_);  // nothing to do before it
  const FabricTime behind = std::max(input.clock - reached, FabricTime::zero());
  window_behind_ = std::max(window_behind_, behind);
  if (input.window_slack_ns) {
    window_slack_ns_ = std::min(window_slack_ns_.value_or(INT64_MAX), *input.window_slack_ns);
  }
  if (holding_) return go_on(input, reached, behind);
  if (static_cast<double>(behind.ps()) > kHoldAt * static_cast<double>(lookahead_.ps())) {
    return hold(input, reached);
  }
  if (const auto jumped = jump(input)) return *jumped;
  if (input.now - window_start_ < kWindowNs) return {};
  window_start_ = input.now;
  const double next = next_dilation();
  return next == dilation_ ? PaceDecision{} : set(next);
}

PaceDecision PaceController::hold(const PaceInput& input, FabricTime reached) {
  holding_ = true;
  ++holds_;
  looked_at_ = input.now;
  hold_reached_ = reached;
  caught_up_ = FabricTime::zero();
  catching_up_ns_ = 0;
  return {PaceDecision::Kind::kHold, 0, {}};
}

PaceDecision PaceController::go_on(const PaceInput& input, FabricTime reached, FabricTime behind) {
  const int64_t since_look = input.now - looked_at_;
  if (reached > hold_reached_) {
    caught_up_ += reached - hold_reached_;
    catching_up_ns_ += since_look;
  }
  hold_reached_ = reached;
  looked_at_ = input.now;
  if (static_cast<double>(behind.ps()) > kCatchUp * static_cast<double>(lookahead_.ps())) {
    return {};
  }
  holding_ = false;
  window_start_ = input.now;
  window_slack_ns_.reset();  // what this window saw has been answered by the hold
  window_behind_ = FabricTime::zero();
  const double possible = dilation_in(catching_up_ns_, caught_up_);
  if (possible < dilation_) return set(dilation_);
  note_trouble();
  // Few looks make too coarse a measure of the possible pace.
  if (catching_up_ns_ < kLooksToMeasure * since_look) return set(trouble_at_);
  return set(std::clamp(possible * kKeepAway, trouble_at_, dilation_ * kMostSlower));
}

std::optional<PaceDecision> PaceController::jump(const PaceInput& input) {
  if (!input.quiet_until || *input.quiet_until <= input.clock) return std::nullopt;
  const FabricTime idle = *input.quiet_until - input.clock;
  if (lab_ns(idle, dilation_) < static_cast<double>(netio::ClockPage::kLeadNs + kJumpGainNs)) {
    return std::nullopt;
  }
  ++jumps_;
  jumped_to_ = *input.quiet_until;
  return PaceDecision{PaceDecision::Kind::kJump, dilation_, *input.quiet_until};
}

double PaceController::next_dilation() {
  const double margin_now = margin();
  smoothed_ += kSmoothing * (margin_now - smoothed_);
  window_slack_ns_.reset();
  window_behind_ = FabricTime::zero();
  if (stage_ == Stage::kCalibrating) {
    if (margin_now > kHigh && dilation_ > kFastest) return dilation_ * kCalibrating;
    stage_ = Stage::kFollowing;
    smoothed_ = margin_now;
  }
  ++windows_since_trouble_;
  const double calm = static_cast<double>(windows_since_trouble_) / patience_;
  trouble_at_ *= std::max(0.5, 1 - kForget * calm * calm);
  if (smoothed_ < kLow) {
    note_trouble();
    return dilation_ * std::min(kMostSlower, 1 + 0.25 * (kLow - smoothed_));
  }
  if (smoothed_ < kHigh) return dilation_;
  const double faster = dilation_ * std::max(kMostFaster, 1 - 0.3 * (smoothed_ - kHigh));
  return std::max(faster, std::min(trouble_at_, dilation_));
}

void PaceController::note_trouble() {
  const double pace = dilation_ * kKeepAway;
  if (windows_since_trouble_ > kEpisode || last_trouble_ == 0) {
    const bool again = pace < last_trouble_ * kSamePace && pace * kSamePace > last_trouble_;
    patience_ = again ? std::min(2 * patience_, kMostPatience) : kFirstPatience;
  }
  last_trouble_ = pace;
  trouble_at_ = std::max(trouble_at_, pace);
  windows_since_trouble_ = 0;
}

int64_t tick_for(double dilation, FabricTime lookahead, uint32_t processes) {
  const int64_t affordable = kTickPerProcessNs * processes;
  const auto wanted = static_cast<int64_t>(std::min(lab_ns(lookahead, dilation) / 16, 1e9));
  return std::clamp(std::max(wanted, affordable), kShortestTickNs, kLongestTickNs);
}

}  // namespace mrclab::lab
