#include "live/world/pace_curve.h"

#include <algorithm>

#include "live/world/pace_controller.h"

namespace mrclab::lab {
namespace {

/// The slowest process that is in the gate, kNoProcess if none is.
uint32_t slowest_process(const netio::GatePage& gate) {
  uint32_t slowest = netio::kNoProcess;
  int64_t least = INT64_MAX;
  for (uint32_t i = 0; i < gate.process_count; ++i) {
    const int64_t done = gate.processes[i].done_ps.load(std::memory_order_relaxed);
    if (!netio::in_gate(gate.state(i)) || done >= least) continue;
    least = done;
    slowest = i;
  }
  return slowest;
}

/// Takes what is worse of the two.
void merge_worst(PaceCurve::Point& into, const PaceCurve::Point& other) {
  if (other.slack_ns < into.slack_ns) {
    into.slack_ns = other.slack_ns;
    into.slack_of = other.slack_of;
  }
  if (other.behind > into.behind) {
    into.behind = other.behind;
    into.slowest = other.slowest;
    into.waited_for = other.waited_for;
  }
}

double dilation_between(const PaceCurve::Point& before, const PaceCurve::Point& after) {
  const FabricTime moved = after.fabric - before.fabric;
  if (moved <= FabricTime::zero()) return 0;
  return achieved_dilation(after.lab_ns - before.lab_ns, moved);
}

}  // namespace

void PaceCurve::note_slack(uint32_t process, int64_t slack_ns) {
  if (slack_ns >= open_.slack_ns) return;
  open_.slack_ns = slack_ns;
  open_.slack_of = process;
}

void PaceCurve::step(const netio::GatePage& gate, netio::LabTime now) {
  if (!began_) began_ = now;
  const uint32_t slowest = slowest_process(gate);
  if (slowest == netio::kNoProcess) return;
  const netio::ProcessSlot& slot = gate.processes[slowest];
  const FabricTime done = std::max(
      FabricTime::from_ps(slot.done_ps.load(std::memory_order_relaxed)), FabricTime::zero());
  Point seen;
  seen.behind = gate.time_at(now) - done;
  seen.slowest = slowest;
  seen.waited_for = slot.waits_for.load(std::memory_order_relaxed);
  merge_worst(open_, seen);
  const int64_t lab_ns = now - *began_;
  if (lab_ns < (points_.empty() ? 0 : points_.back().lab_ns) + span_ns_) return;
  close(done, lab_ns);
}

void PaceCurve::close(FabricTime fabric, int64_t lab_ns) {
  open_.fabric = fabric;
  open_.lab_ns = lab_ns;
  open_.dilation = dilation_between(points_.empty() ? Point{} : points_.back(), open_);
  points_.push_back(open_);
  open_ = Point{};
  if (points_.size() >= kMaxPoints) halve();
}

void PaceCurve::halve() {
  for (size_t i = 0; i + 1 < points_.size(); i += 2) {
    Point merged = points_[i + 1];
    merge_worst(merged, points_[i]);
    merged.dilation = dilation_between(i == 0 ? Point{} : points_[i / 2 - 1], merged);
    points_[i / 2] = merged;
  }
  points_.resize(points_.size() / 2);
  span_ns_ *= 2;
}

}  // namespace mrclab::lab
