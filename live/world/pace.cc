#include "live/world/pace.h"

#include <algorithm>

namespace mrclab::lab {

void Pace::start(netio::LabTime now) {
  if (fixed_) clock_.set_dilation({*fixed_}, now);
  started_ = window_start_ = now + netio::ClockPage::kLeadNs;
}

void Pace::pause(netio::LabTime now) {
  paused_ = true;
  clock_.set_dilation({0}, now);
}

void Pace::resume(netio::LabTime now) {
  paused_ = false;
  clock_.set_dilation({standing() ? 0 : dilation()}, now);
}

std::optional<FabricTime> Pace::step(const Reading& reading, netio::LabTime now) {
  note_window(std::max(reading.slowest, FabricTime::zero()), now);
  if (paused_) return std::nullopt;
  if (fixed_) {
    hold_back(std::max(reading.slowest, FabricTime::zero()), now);
    return std::nullopt;
  }
  const PaceDecision decision =
      controller_.next_pace({now, clock_.fabric_at(now), reading.slowest, reading.quiet_until});
  switch (decision.kind) {
    case PaceDecision::Kind::kKeep: break;
    case PaceDecision::Kind::kRate: clock_.set_dilation({decision.dilation}, now); break;
    case PaceDecision::Kind::kStepBack:
      clock_.set_back(decision.to, {decision.dilation}, now);
      break;
    case PaceDecision::Kind::kJump:
      clock_.jump(decision.to, {decision.dilation}, now);
      return decision.to;
  }
  return std::nullopt;
}

void Pace::hold_back(FabricTime slowest, netio::LabTime now) {
  const bool leashed = leash_ != FabricTime::zero() && slowest != FabricTime::never();
  if (!leashed || clock_.fabric_at(now) - slowest <= leash_ + leash_) return;
  clock_.set_back(slowest + leash_, {*fixed_}, now);
  ++held_back_;
}

void Pace::note_window(FabricTime slowest, netio::LabTime now) {
  if (now - window_start_ < kWindowNs || slowest <= at_window_) return;
  const double k = achieved_dilation(now - window_start_, slowest - at_window_);
  least_ = least_ == 0 ? k : std::min(least_, k);
  most_ = std::max(most_, k);
  window_start_ = now;
  at_window_ = slowest;
}

DilationReport Pace::report(FabricTime slowest, netio::LabTime now) const {
  DilationReport report;
  report.mean = achieved_dilation(now - started_, slowest);
  report.min = least_ == 0 ? report.mean : std::min(report.mean, least_);
  report.max = std::max(report.mean, most_);
  report.jumps = controller_.jumps();
  report.holds = controller_.holds() + held_back_;
  return report;
}

}  // namespace mrclab::lab
