#include "lab/pace.h"

#include <algorithm>

namespace mrclab::lab {
namespace {

double dilation_of(int64_t lab_ns, FabricTime fabric) {
  return static_cast<double>(lab_ns) * 1000.0 /
         static_cast<double>(std::max<int64_t>(1, fabric.ps()));
}

constexpr size_t kMaxWindows = 100'000;

}  // namespace

void Pace::start(netio::LabTime now) {
  dilation_ = fixed_.value_or(kStart);
  clock_.set_dilation({dilation_}, now);
  started_ = adjusted_ = window_start_ = now + netio::ClockPage::kLeadNs;
}

void Pace::pause(netio::LabTime now) {
  paused_ = true;
  clock_.set_dilation({0}, now);
}

void Pace::resume(netio::LabTime now) {
  paused_ = false;
  adjusted_ = now;
  clock_.set_dilation({holding_ ? 0 : dilation_}, now);
}

void Pace::step(FabricTime slowest, netio::LabTime now) {
  if (now - window_start_ >= kWindowNs && slowest > at_window_) {
    if (windows_.size() < kMaxWindows) {
      windows_.push_back(dilation_of(now - window_start_, slowest - at_window_));
    }
    window_start_ = now;
    at_window_ = slowest;
  }
  if (!fixed_ && !paused_ && now - adjusted_ >= kAdjustEveryNs) adjust(slowest, now);
}

void Pace::adjust(FabricTime slowest, netio::LabTime now) {
  const FabricTime behind = clock_.fabric_at(now) - slowest;
  adjusted_ = now;
  if (holding_) {
    if (behind > head_start_ / 4) return;
    holding_ = false;
  } else if (behind > head_start_ * 2) {
    // The clock cannot go back, but it can wait until the last process has caught up.
    holding_ = true;
    dilation_ = std::min(dilation_ * 1.25, kSlowest);
    clock_.set_dilation({0}, now);
    return;
  } else if (behind > head_start_ / 2) {
    dilation_ = std::min(dilation_ * 1.1, kSlowest);
  } else if (behind < head_start_ / 4) {
    dilation_ = std::max(dilation_ * 0.95, kFastest);
  }
  clock_.set_dilation({dilation_}, now);
}

DilationReport Pace::report(FabricTime slowest, netio::LabTime now) const {
  DilationReport report;
  report.mean = dilation_of(now - started_, slowest);
  report.min = report.max = report.mean;
  for (const double k : windows_) {
    report.min = std::min(report.min, k);
    report.max = std::max(report.max, k);
  }
  return report;
}

}  // namespace mrclab::lab
