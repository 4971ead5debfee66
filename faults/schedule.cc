#include "faults/schedule.h"

#include <algorithm>
#include <set>

namespace mrclab::faults {
namespace {

/// A hold begins or ends.
struct Boundary {
  FabricTime at;
  uint32_t fault = 0;
  size_t hold = 0;
  bool begins = false;
};

Effect effect_of(const Target& target, bool degraded, Probability loss) {
  switch (target.kind) {
    case TargetKind::kWireLight: return WireState{target.wire, !degraded};
    case TargetKind::kWireFrames: return random_loss(target.wire, loss);
    case TargetKind::kCarrier: return PortCarrier{target.port, !degraded};
    case TargetKind::kPath: return EvDenial{target.host, target.ev, target.toward, degraded};
  }
  return WireState{};
}

/// Follows one target through its holds and emits a state whenever it changes.
class TargetTimeline {
 public:
  TargetTimeline(const Target& target, const std::vector<Hold>& holds)
      : target_(target), holds_(holds) {}

  void add(uint32_t fault, size_t hold) {
    boundaries_.push_back({holds_[hold].from, fault, hold, true});
    if (holds_[hold].until != FabricTime::never()) {
      boundaries_.push_back({holds_[hold].until, fault, hold, false});
    }
  }

  void emit(std::vector<ScheduledEffect>& out) {
    std::sort(boundaries_.begin(), boundaries_.end(), [](const Boundary& a, const Boundary& b) {
      return std::tie(a.at, a.fault, a.hold, a.begins) < std::tie(b.at, b.fault, b.hold, b.begins);
    });
    for (size_t i = 0; i < boundaries_.size();) {
      const size_t first = i;
      const State before = state();
      for (; i < boundaries_.size() && boundaries_[i].at == boundaries_[first].at; ++i) {
        step(boundaries_[i]);
      }
      const State after = state();
      if (after == before) continue;
      const bool heals = before.degraded && (!after.degraded || after.loss < before.loss);
      out.push_back({boundaries_[first].at, effect_of(target_, after.degraded, after.loss), 0,
                     responsible(first, i, heals), heals});
    }
  }

 private:
  struct State {
    bool degraded = false;
    Probability loss;
    bool operator==(const State&) const = default;
  };

  void step(const Boundary& boundary) {
    const uint32_t loss = holds_[boundary.hold].loss.ppb;
    if (boundary.begins) {
      active_.insert(loss);
    } else {
      active_.erase(active_.find(loss));
    }
  }

  /// Degraded while any hold is active; of several losses the highest counts.
  State state() const {
    if (active_.empty()) return {};
    return {true, {*active_.rbegin()}};
  }

  /// The lowest fault whose hold ends there if the target got better, else the lowest that begins.
  uint32_t responsible(size_t first, size_t end, bool heals) const {
    for (size_t i = first; i < end; ++i) {
      if (boundaries_[i].begins != heals) return boundaries_[i].fault;
    }
    return boundaries_[first].fault;
  }

  Target target_;
  const std::vector<Hold>& holds_;
  std::vector<Boundary> boundaries_;
  std::multiset<uint32_t> active_;  // losses of the active holds
};

}  // namespace

std::vector<ScheduledEffect> compile(const std::vector<Fault>& faults, const Topology& topology,
                                     uint64_t first_sequence) {
  std::vector<Hold> holds;
  std::vector<uint32_t> owners;
  for (uint32_t i = 0; i < faults.size(); ++i) {
    for (const Hold& hold : holds_of(faults[i], topology)) {
      if (hold.from >= hold.until) continue;
      holds.push_back(hold);
      owners.push_back(i);
    }
  }
  std::map<Target, TargetTimeline> timelines;
  for (size_t i = 0; i < holds.size(); ++i) {
    timelines.try_emplace(holds[i].target, holds[i].target, holds).first->second.add(owners[i], i);
  }
  std::vector<ScheduledEffect> schedule;
  for (auto& [target, timeline] : timelines) timeline.emit(schedule);
  // Equal instants keep the order of targets, which is that of the map.
  std::stable_sort(schedule.begin(), schedule.end(),
                   [](const ScheduledEffect& a, const ScheduledEffect& b) { return a.at < b.at; });
  for (ScheduledEffect& effect : schedule) effect.sequence = first_sequence++;
  return schedule;
}

void FaultState::apply(const Effect& effect) {
  Target target;
  bool degraded = false;
  Probability loss;
  if (const auto* wire = std::get_if<WireState>(&effect)) {
    target = {TargetKind::kWireLight, wire->wire, {}};
    degraded = !wire->up;
  } else if (const auto* lossy = std::get_if<WireLoss>(&effect)) {
    target = {TargetKind::kWireFrames, lossy->wire, {}};
    degraded = lossy->loss.ppb != 0;
    loss = lossy->loss;
  } else if (const auto* denial = std::get_if<EvDenial>(&effect)) {
    target = {TargetKind::kPath, {}, {}, denial->host, denial->ev, denial->toward};
    degraded = denial->denied;
  } else {
    const auto& carrier = std::get<PortCarrier>(effect);
    target = {TargetKind::kCarrier, {}, carrier.port};
    degraded = !carrier.up;
  }
  if (degraded) {
    degraded_[target] = loss;
  } else {
    degraded_.erase(target);
  }
}

std::vector<Target> FaultState::degraded_targets() const {
  std::vector<Target> targets;
  for (const auto& [target, loss] : degraded_) targets.push_back(target);
  return targets;
}

FaultState replay(const std::vector<ScheduledEffect>& schedule, FabricTime until) {
  FaultState state;
  for (const ScheduledEffect& effect : schedule) {
    if (effect.at <= until) state.apply(effect.effect);
  }
  return state;
}

bool is_healed(const Fault& fault, const Topology& topology, const FaultState& state) {
  const std::vector<Hold> holds = holds_of(fault, topology);
  return std::none_of(holds.begin(), holds.end(),
                      [&](const Hold& hold) { return state.degraded(hold.target); });
}

}  // namespace mrclab::faults
