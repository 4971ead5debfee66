#include "analysis/history/fault_span.h"

#include <algorithm>
#include <map>

#include "fabric/node/effect_fields.h"
#include "fabric/node/effect_text.h"
#include "fabric/node/impairment.h"

namespace mrclab::analysis {
namespace {

/// Plays a schedule. Effects are absolute states of targets, so a target has one state at a time. It
/// belongs to the fault whose effect brought it; where faults overlap on a target, the effect that
/// ends it may be another's.
class Player {
 public:
  Player(const Topology& topology, std::vector<FaultSpan>& spans, FabricTime end)
      : topology_(topology), spans_(spans), end_(end), faults_(spans.size()) {}

  void play(const ScheduledEffect& scheduled) {
    const uint32_t fault = scheduled.fault;
    spans_[fault].start = std::min(spans_[fault].start, scheduled.at);
    const std::string target = target_of(scheduled.effect);
    if (scheduled.heals) {
      spans_[fault].heals = true;
      if (const auto owner = owner_.find(target); owner != owner_.end()) {
        spans_[owner->second].heals = true;
      }
    }
    owner_[target] = fault;
    if (scheduled.at <= end_) execute(scheduled, target);
  }

  void finish() {
    for (size_t i = 0; i < spans_.size(); ++i) {
      FaultSpan& span = spans_[i];
      span.healed_at =
          faults_[i].played && faults_[i].open == 0 ? faults_[i].last : FabricTime::never();
      std::erase_if(span.impairments, [](const Impairment& x) { return x.from == x.until; });
      std::sort(span.impairments.begin(), span.impairments.end(),
                [](const Impairment& x, const Impairment& y) {
                  return std::pair{x.from, x.wire} < std::pair{y.from, y.wire};
                });
    }
  }

 private:
  /// A target that is not as built.
  struct Degraded {
    uint32_t fault = 0;
    std::vector<WireId> wires;  // that it impairs
  };
  struct WireState {
    uint32_t causes = 0;  // targets of one fault that impair the wire now
    size_t open = 0;      // its impairment, if there are any
  };
  struct Progress {
    uint32_t open = 0;  // targets
    FabricTime last;
    bool played = false;
    std::map<WireId, WireState> wires = {};
  };

  /// The same for all effects on the same target.
  static std::string target_of(const Effect& effect) { return to_text({{}, as_built(effect)}); }

  void execute(const ScheduledEffect& scheduled, const std::string& target) {
    Progress& progress = faults_[scheduled.fault];
    progress.played = true;
    progress.last = scheduled.at;
    if (happens_once(scheduled.effect)) return;
    const auto before = degraded_.extract(target);
    if (!is_as_built(scheduled.effect)) {
      const Degraded now{scheduled.fault, wires_impaired_by(topology_, scheduled.effect)};
      ++progress.open;
      for (const WireId wire : now.wires) begin(now.fault, wire, scheduled.at);
      if (const auto* drain = std::get_if<HostDrain>(&scheduled.effect)) {
        if (!before.empty()) speed_up(before.mapped().fault, drain->host, scheduled.at);
        spans_[now.fault].receivers.push_back({drain->host, scheduled.at});
      }
      degraded_.emplace(target, now);
    }
    if (before.empty()) return;
    Progress& owner = faults_[before.mapped().fault];
    --owner.open;
    owner.last = scheduled.at;
    for (const WireId wire : before.mapped().wires) end(before.mapped().fault, wire, scheduled.at);
    const auto* drain = std::get_if<HostDrain>(&scheduled.effect);
    if (drain != nullptr && drain->kind == DrainKind::kAsBuilt) {
      speed_up(before.mapped().fault, drain->host, scheduled.at);
    }
  }
  void speed_up(uint32_t fault, NodeId host, FabricTime at) {
    for (SlowedReceiver& receiver : spans_[fault].receivers) {
      if (receiver.host == host && receiver.until == FabricTime::never()) receiver.until = at;
    }
  }
  void begin(uint32_t fault, WireId wire, FabricTime at) {
    WireState& state = faults_[fault].wires[wire];
    if (state.causes++ > 0) return;
    state.open = spans_[fault].impairments.size();
    spans_[fault].impairments.push_back({wire, at, FabricTime::never()});
  }
  void end(uint32_t fault, WireId wire, FabricTime at) {
    WireState& state = faults_[fault].wires[wire];
    if (--state.causes == 0) spans_[fault].impairments[state.open].until = at;
  }

  const Topology& topology_;
  std::vector<FaultSpan>& spans_;
  FabricTime end_;
  std::vector<Progress> faults_;
  std::map<std::string, Degraded> degraded_;  // by target
  std::map<std::string, uint32_t> owner_;     // by target, also of effects that are not executed
};

}  // namespace

std::vector<FaultSpan> fault_spans(const Topology& topology, std::span<const FaultName> names,
                                   std::span<const ScheduledEffect> schedule, FabricTime end) {
  std::vector<ScheduledEffect> ordered(schedule.begin(), schedule.end());
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const ScheduledEffect& a, const ScheduledEffect& b) {
                     return std::pair{a.at, a.sequence} < std::pair{b.at, b.sequence};
                   });
  std::vector<FaultSpan> spans(names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    spans[i].description = names[i].description;
    spans[i].kind = names[i].kind;
    spans[i].start = FabricTime::never();
    spans[i].heals = false;
  }
  Player player(topology, spans, end);
  for (const ScheduledEffect& effect : ordered) {
    if (effect.fault < spans.size()) player.play(effect);
  }
  player.finish();
  return spans;
}

std::vector<Impairment> impairments_of_links(const Topology& topology,
                                             std::span<const LinkId> links, FabricTime from,
                                             FabricTime until) {
  std::vector<Impairment> impairments;
  for (const LinkId id : links) {
    impairments.push_back({topology.link(id).a_to_b(), from, until});
    impairments.push_back({topology.link(id).b_to_a(), from, until});
  }
  return impairments;
}

}  // namespace mrclab::analysis
