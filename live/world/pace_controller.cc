#include "live/world/pace_controller.h"

#include <algorithm>

namespace mrclab::lab {
namespace {

// The controller aims at a dilation of so many times the one that the processes achieved: a clock that is a little too
// fast keeps them busy, and the leash holds it back.
constexpr double kAhead = 0.8;
// From one window to the next the controller makes the dilation at most so many times as large, and at least so many.
constexpr double kMostSlower = 1.25, kMostFaster = 0.7;
constexpr int64_t kShortestTickNs = 100'000;
constexpr int64_t kLongestTickNs = 2'000'000;
constexpr int64_t kTickPerProcessNs =
    15'000;  // 7 % of a processor for wake-ups of 10 us, each one's share

/// Lab nanoseconds that a stretch of fabric time takes.
double lab_ns(FabricTime span, double dilation) {
  return static_cast<double>(span.ps()) * dilation / 1000.0;
}

}  // namespace

double achieved_dilation(int64_t lab_ns, FabricTime stretch) {
  return 1000.0 * static_cast<double>(lab_ns) /
         static_cast<double>(std::max<int64_t>(1, stretch.ps()));
}

PaceDecision PaceController::next_pace(const PaceInput& input) {
  if (!begun_) {
    if (input.slowest < FabricTime::zero()) return {};
    begun_ = true;
    begin_window(input.now, input.slowest);
    return {PaceDecision::Kind::kRate, dilation_, {}};
  }
  if (const auto jumped = jump(input)) return *jumped;
  const FabricTime reached = std::max(input.slowest, jumped_to_);  // nothing to do before it
  const FabricTime ahead = input.clock - reached;
  const bool held = ahead > leash_;
  if (held && !held_) ++holds_;
  held_ = held;
  window_held_ |= held;
  const double before = dilation_;
  if (input.now - window_start_ >= kWindowNs) dilation_ = next_dilation(input, reached);
  // Stepping back at each look would leave ClockPage little of its past, by which frames from outside are timed.
  if (ahead > leash_ + leash_) return {PaceDecision::Kind::kStepBack, dilation_, reached + leash_};
  if (dilation_ != before) return {PaceDecision::Kind::kRate, dilation_, {}};
  return {};
}

void PaceController::begin_window(netio::LabTime now, FabricTime reached) {
  window_start_ = now;
  window_reached_ = reached;
  window_held_ = false;
}

std::optional<PaceDecision> PaceController::jump(const PaceInput& input) {
  if (!input.quiet_until || *input.quiet_until <= input.clock) return std::nullopt;
  const FabricTime idle = *input.quiet_until - input.clock;
  if (lab_ns(idle, dilation_) < static_cast<double>(netio::ClockPage::kLeadNs + kJumpGainNs)) {
    return std::nullopt;
  }
  ++jumps_;
  jumped_to_ = *input.quiet_until;
  held_ = false;
  begin_window(input.now, jumped_to_);
  return PaceDecision{PaceDecision::Kind::kJump, dilation_, *input.quiet_until};
}

double PaceController::next_dilation(const PaceInput& input, FabricTime reached) {
  const double achieved = achieved_dilation(input.now - window_start_, reached - window_reached_);
  const bool held = window_held_, moved = reached > window_reached_;
  begin_window(input.now, reached);
  if (held && !moved) return dilation_;  // nothing has been learned
  const double wanted = held ? achieved * kAhead : 0;
  const double next = std::clamp(wanted, dilation_ * kMostFaster, dilation_ * kMostSlower);
  return std::clamp(next, kFastest, kSlowest);
}

int64_t tick_for(double dilation, FabricTime lookahead, uint32_t processes, bool stays) {
  const int64_t affordable = kTickPerProcessNs * processes;
  const auto wanted = static_cast<int64_t>(std::min(lab_ns(lookahead, dilation) / 8, 1e9));
  return std::clamp(std::max(wanted, affordable), stays ? kStandingTickNs : kShortestTickNs,
                    kLongestTickNs);
}

}  // namespace mrclab::lab
