#include "analysis/fault_span.h"

#include <algorithm>
#include <map>

namespace mrclab::analysis {
namespace {

/// What one fault does to one wire at the moment.
struct WireTrouble {
  bool down = false;
  bool lossy = false;
  bool no_carrier = false;
  bool any() const { return down || lossy || no_carrier; }
};

/// Plays the effects of one fault and collects the outages of each wire.
class Player {
 public:
  Player(const Topology& topology, FaultSpan& span) : topology_(topology), span_(span) {}

  void play(const ScheduledEffect& scheduled) {
    if (const auto* state = std::get_if<WireState>(&scheduled.effect)) {
      change(state->wire, scheduled.at, [&](WireTrouble& t) { t.down = !state->up; });
    } else if (const auto* loss = std::get_if<WireLoss>(&scheduled.effect)) {
      change(loss->wire, scheduled.at, [&](WireTrouble& t) { t.lossy = loss->loss.ppb > 0; });
    } else if (const auto* carrier = std::get_if<PortCarrier>(&scheduled.effect)) {
      change(topology_.port(carrier->port).out, scheduled.at,
             [&](WireTrouble& t) { t.no_carrier = !carrier->up; });
    } else if (const auto* denial = std::get_if<EvDenial>(&scheduled.effect)) {
      denials_ += denial->denied ? 1 : -1;  // absolute states: on and off alternate
    }
    last_ = scheduled.at;
    played_ = true;
  }

  void finish() {
    const bool clean = std::none_of(trouble_.begin(), trouble_.end(),
                                    [](const auto& entry) { return entry.second.any(); });
    span_.healed_at = played_ && clean && denials_ <= 0 ? last_ : FabricTime::never();
    std::erase_if(span_.impairments, [](const Impairment& i) { return i.from == i.until; });
    std::sort(span_.impairments.begin(), span_.impairments.end(),
              [](const Impairment& a, const Impairment& b) {
                return std::pair{a.from, a.wire} < std::pair{b.from, b.wire};
              });
  }

 private:
  void change(WireId wire, FabricTime at, auto&& apply) {
    WireTrouble& trouble = trouble_[wire];
    const bool before = trouble.any();
    apply(trouble);
    if (!before && trouble.any()) {
      open_[wire] = span_.impairments.size();
      span_.impairments.push_back({wire, at, FabricTime::never()});
    } else if (before && !trouble.any()) {
      span_.impairments[open_[wire]].until = at;
    }
  }

  const Topology& topology_;
  FaultSpan& span_;
  std::map<WireId, WireTrouble> trouble_;
  std::map<WireId, size_t> open_;
  int64_t denials_ = 0;  ///< paths denied now
  FabricTime last_;
  bool played_ = false;
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
  std::vector<Player> players;
  players.reserve(names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    spans[i].description = names[i].description;
    spans[i].kind = names[i].kind;
    spans[i].start = FabricTime::never();
    spans[i].heals = false;
    players.emplace_back(topology, spans[i]);
  }
  for (const ScheduledEffect& effect : ordered) {
    if (effect.fault >= spans.size()) continue;
    FaultSpan& span = spans[effect.fault];
    span.start = std::min(span.start, effect.at);
    span.heals = span.heals || effect.heals;
    if (effect.at <= end) players[effect.fault].play(effect);
  }
  for (Player& player : players) player.finish();
  return spans;
}

std::vector<Impairment> impairments_of_links(const Topology& topology,
                                             std::span<const LinkId> links, FabricTime from,
                                             FabricTime until) {
  std::vector<Impairment> impairments;
  for (const LinkId id : links) {
    impairments.push_back({topology.link(id).a_to_b, from, until});
    impairments.push_back({topology.link(id).b_to_a, from, until});
  }
  return impairments;
}

}  // namespace mrclab::analysis
