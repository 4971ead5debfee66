#include "faults/schedule.h"

#include <algorithm>
#include <tuple>

#include "fabric/node/effect_fields.h"

namespace mrclab::faults {
namespace {

template <class Value>
uint64_t key_number(const Value& value) {
  if constexpr (std::is_same_v<Value, PortRef>) {
    return uint64_t{value.node.value} << 32 | value.port.value;
  } else if constexpr (requires { value.value; }) {
    return value.value;
  } else if constexpr (std::is_same_v<Value, bool> || std::is_enum_v<Value>) {
    return static_cast<uint64_t>(value);
  } else {
    return 0;  // no other type is a key
  }
}

/// Mean share of frames that this state loses.
int64_t mean_loss(const WireLoss& loss) {
  if (loss.kind == LossKind::kEveryNth) return Probability::kOne / std::max(loss.every, 1u);
  if (loss.kind != LossKind::kBursty) return loss.loss.ppb;
  const int64_t enter = loss.enter_bad.ppb;
  const int64_t leave = loss.leave_bad.ppb;
  return enter + leave == 0 ? 0 : int64_t{loss.loss.ppb} * enter / (enter + leave);
}

/// How bad a state is compared with others of the same target. Among equal ones, the last that
/// began counts.
int64_t severity(const Effect& effect) {
  return std::visit(
      [](const auto& e) -> int64_t {
        using E = std::decay_t<decltype(e)>;
        if constexpr (std::is_same_v<E, WireLoss>) return mean_loss(e);
        if constexpr (std::is_same_v<E, WireErrors> || std::is_same_v<E, SwitchErrors> ||
                      std::is_same_v<E, WireCodewords>) {
          return static_cast<int64_t>(e.rate.per_quadrillion);
        }
        if constexpr (std::is_same_v<E, WireDelay>) return (e.fixed + e.jitter).ps();
        if constexpr (std::is_same_v<E, WireDuplicates>) return e.share.ppb;
        if constexpr (std::is_same_v<E, WireRate>) return -static_cast<int64_t>(e.rate.bps);
        if constexpr (std::is_same_v<E, SwitchBuffer>) return e.lost.ppb;
        if constexpr (std::is_same_v<E, HostAttack>) return static_cast<int64_t>(e.rate.bps);
        if constexpr (std::is_same_v<E, HostDrain>) {
          return e.kind == DrainKind::kStalled ? 1 : -static_cast<int64_t>(e.rate.bps);
        }
        if constexpr (requires { e.work; }) return static_cast<int64_t>(e.work);
        return 0;
      },
      effect);
}

/// A hold begins or ends.
struct Boundary {
  FabricTime at;
  uint32_t fault = 0;
  size_t hold = 0;
  bool begins = false;
};

/// Follows one target through its holds and emits a state whenever it changes.
class TargetTimeline {
 public:
  explicit TargetTimeline(const std::vector<Hold>& holds) : holds_(holds) {}

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
    Effect state = as_built(holds_[boundaries_.front().hold].effect);
    for (size_t i = 0; i < boundaries_.size();) {
      const size_t first = i;
      const Effect before = state;
      for (; i < boundaries_.size() && boundaries_[i].at == boundaries_[first].at; ++i) {
        step(boundaries_[i]);
      }
      state = worst(before);
      if (state == before) continue;
      const bool heals =
          is_as_built(state) || (!is_as_built(before) && severity(state) < severity(before));
      out.push_back({boundaries_[first].at, state, 0, responsible(first, i, heals), heals});
    }
  }

 private:
  void step(const Boundary& boundary) {
    if (boundary.begins) {
      active_.push_back(boundary.hold);
    } else {
      active_.erase(std::find(active_.begin(), active_.end(), boundary.hold));
    }
  }

  /// The worst of the active holds, among equal ones the last that began; as built if none is
  /// active.
  Effect worst(const Effect& same_target) const {
    if (active_.empty()) return as_built(same_target);
    size_t worst = active_.front();
    for (const size_t hold : active_) {
      if (severity(holds_[hold].effect) >= severity(holds_[worst].effect)) worst = hold;
    }
    return holds_[worst].effect;
  }

  /// The lowest fault whose hold ends there if the target got better, else the lowest that begins.
  uint32_t responsible(size_t first, size_t end, bool heals) const {
    for (size_t i = first; i < end; ++i) {
      if (boundaries_[i].begins != heals) return boundaries_[i].fault;
    }
    return boundaries_[first].fault;
  }

  const std::vector<Hold>& holds_;
  std::vector<Boundary> boundaries_;
  std::vector<size_t> active_;  // in the order of beginning
};

}  // namespace

Target target_of(const Effect& effect) {
  Target target{effect.index(), {}};
  size_t keys = 0;
  std::visit(
      [&](const auto& e) {
        for_each_field(e, [&](const auto& field, const auto& value) {
          if (field.role == FieldRole::kKey) target.keys.at(keys++) = key_number(value);
        });
      },
      effect);
  return target;
}

std::vector<ScheduledEffect> compile(const std::vector<Fault>& faults, const Topology& topology,
                                     uint64_t first_sequence) {
  std::vector<Hold> holds;
  std::vector<uint32_t> owners;
  std::vector<ScheduledEffect> schedule;
  for (uint32_t i = 0; i < faults.size(); ++i) {
    for (const Hold& hold : holds_of(faults[i], topology)) {
      if (happens_once(hold.effect)) schedule.push_back({hold.from, hold.effect, 0, i, false});
      if (hold.from >= hold.until) continue;
      holds.push_back(hold);
      owners.push_back(i);
    }
  }
  std::map<Target, TargetTimeline> timelines;
  for (size_t i = 0; i < holds.size(); ++i) {
    timelines.try_emplace(target_of(holds[i].effect), holds).first->second.add(owners[i], i);
  }
  for (auto& [target, timeline] : timelines) timeline.emit(schedule);
  // Equal instants keep the order of targets, which is that of the map; what happens once is first.
  std::stable_sort(schedule.begin(), schedule.end(),
                   [](const ScheduledEffect& a, const ScheduledEffect& b) { return a.at < b.at; });
  for (ScheduledEffect& effect : schedule) effect.sequence = first_sequence++;
  return schedule;
}

std::vector<ScheduledEffect> still_in_force(const std::vector<ScheduledEffect>& schedule,
                                            FabricTime until) {
  std::map<Target, size_t> last;
  for (size_t i = 0; i < schedule.size() && schedule[i].at <= until; ++i) {
    if (happens_once(schedule[i].effect)) continue;
    if (is_as_built(schedule[i].effect)) {
      last.erase(target_of(schedule[i].effect));
    } else {
      last.insert_or_assign(target_of(schedule[i].effect), i);
    }
  }
  std::vector<size_t> places;
  places.reserve(last.size());
  for (const auto& [target, place] : last) places.push_back(place);
  std::sort(places.begin(), places.end());
  std::vector<ScheduledEffect> in_force;
  in_force.reserve(places.size());
  for (const size_t place : places) in_force.push_back(schedule[place]);
  return in_force;
}

void FaultState::apply(const Effect& effect) {
  if (happens_once(effect)) return;
  if (is_as_built(effect)) {
    degraded_.erase(target_of(effect));
  } else {
    degraded_.insert_or_assign(target_of(effect), effect);
  }
}

std::vector<Effect> FaultState::degraded_targets() const {
  std::vector<Effect> targets;
  for (const auto& [target, effect] : degraded_) targets.push_back(effect);
  return targets;
}

FaultState replay(const std::vector<ScheduledEffect>& schedule, FabricTime until) {
  FaultState state;
  for (const ScheduledEffect& effect : schedule) {
    if (effect.at <= until) state.apply(effect.effect);
  }
  return state;
}

}  // namespace mrclab::faults
