#include "analysis/measure/path_use.h"

#include <algorithm>
#include <map>

#include "analysis/history/path_wires.h"

namespace mrclab::analysis {
namespace {

/// A sender shows that it avoids a path when, at its earlier share, it would have used it at least
/// this often since. Fewer packets elsewhere prove nothing: an idle sender has detected nothing.
constexpr uint64_t kExpectedUses = 3;
/// Captures have nanoseconds: a frame that starts at the instant of a heal may seem to start
/// before.
constexpr FabricTime kCaptureResolution = FabricTime::from_ns(1);
constexpr uint32_t kNoWay = FlatIndex::kNone;

}  // namespace

PathUsage::PathUsage(const Topology& topology, const PacketHistory& history, FabricTime base_rtt,
                     FabricTime end)
    : topology_(topology),
      history_(history),
      base_rtt_(base_rtt),
      end_(end),
      ways_of_flow_(history.flows().size()) {
  FlatIndex known(history.attempts().size());
  for (const Attempt& t : history.attempts()) {
    const uint32_t number = way_of(known, history.packets()[t.packet].flow, t.ev);
    if (number == kNoWay) continue;
    Way& way = ways_[number];
    way.first_start = std::min(way.first_start, t.start);
    if (t.fate == Fate::kDelivered) {
      way.last_delivered = std::max(way.last_delivered.value_or(t.start), t.start);
    }
    if (t.attempt > 0 || !t.start_seen || t.start >= end) continue;
    uses_.push_back({t.start, number, t.lost()});
  }
  std::stable_sort(uses_.begin(), uses_.end(),
                   [](const Use& a, const Use& b) { return a.start < b.start; });
}

/// Its number, kNoWay if the fabric has no such path. `known` has a number more than that, zero for kNoWay.
uint32_t PathUsage::way_of(FlatIndex& known, uint32_t flow, EntropyValue ev) {
  const uint64_t key = uint64_t{flow} << 32 | ev.value;
  if (const uint32_t found = known.find(key); found != FlatIndex::kNone) return found - 1;
  const Flow& ends = history_.flows()[flow];
  const auto path = built_path(topology_, ends.source, ends.destination, ev);
  const uint32_t number = path ? static_cast<uint32_t>(ways_.size()) : kNoWay;
  known.find_or_add(key, number + 1);
  if (!path) return kNoWay;
  ways_.push_back({flow, *path, !path_of(ev)->named(), FabricTime::never(), std::nullopt});
  ways_of_flow_[flow].push_back(number);
  return number;
}

template <class UseWay>
void PathUsage::for_each_way_over(const WireMatcher& matcher, UseWay&& use) const {
  for (uint32_t flow = 0; flow < ways_of_flow_.size(); ++flow) {
    const Flow& ends = history_.flows()[flow];
    if (ways_of_flow_[flow].empty() || !matcher.reachable(ends.source, ends.destination)) continue;
    for (const uint32_t number : ways_of_flow_[flow]) {
      if (matcher.crosses(ends.source, ends.destination, ways_[number].path)) use(number);
    }
  }
}

FaultMeasurement PathUsage::measure(const FaultSpan& fault) const {
  FaultMeasurement result;
  std::map<WireId, std::pair<FabricTime, FabricTime>> wires;  // first down, last up
  for (const Impairment& impairment : fault.impairments) {
    measure_impairment(impairment, result);
    const auto [entry, added] =
        wires.try_emplace(impairment.wire, impairment.from, impairment.until);
    if (!added) entry->second.second = std::max(entry->second.second, impairment.until);
  }
  for (const auto& [wire, span] : wires) {
    const Regained state = regained(wire, span.first, span.second);
    if (state == Regained::kNotUsedBefore) continue;
    ++result.wires_to_regain;
    if (state == Regained::kNo) result.unused.push_back(wire);
    if (state == Regained::kNobodySent) result.unjudged.push_back(wire);
  }
  return result;
}

void PathUsage::measure_impairment(const Impairment& impairment, FaultMeasurement& result) const {
  const WireMatcher matcher(topology_, impairment.wire);
  const FabricTime from = impairment.from - base_rtt_ * kWindowRtts;
  const FabricTime until = std::min(impairment.until, end_) - kCaptureResolution;
  auto use = std::lower_bound(uses_.begin(), uses_.end(), from,
                              [](const Use& u, FabricTime t) { return u.start < t; });
  std::vector<FlowCount> counts(history_.flows().size());
  std::vector<bool> over(ways_.size()), flow_over(counts.size());
  for_each_way_over(matcher, [&](uint32_t way) {
    over[way] = true;
    flow_over[ways_[way].flow] = true;
  });
  for (; use != uses_.end() && use->start < until; ++use) {
    const Way& way = ways_[use->way];
    if (!flow_over[way.flow]) continue;  // it has no use of the wire, so nothing of it counts
    bool on_wire = over[use->way];
    // A T0 may have taken an uplink out of its group, to a T1 that is down: only what was lost
    // there went there for sure.
    const bool maybe = way.hashed && matcher.between_switches() && use->start >= impairment.from;
    if (maybe) on_wire = on_wire && use->lost;
    FlowCount& count = counts[way.flow];
    if (use->start < impairment.from) {
      ++count.before;
      count.before_on_wire += on_wire ? 1 : 0;
    } else if (on_wire) {
      if (stays_away(count, use->start, matcher.paths())) count.left = count.last;
      ++count.during_on_wire;
      count.last = use->start;
      if (use->lost && !count.first_loss) count.first_loss = use->start;
      count.since_last = 0;
    } else {
      ++count.since_last;
    }
  }
  for (uint32_t flow = 0; flow < counts.size(); ++flow) {
    if (stays_away(counts[flow], until, matcher.paths())) counts[flow].left = counts[flow].last;
    judge_flow(flow, counts[flow], impairment, matcher.paths(), result);
  }
}

/// Has it just begun to stay away, while it sends elsewhere?
bool PathUsage::stays_away(const FlowCount& count, FabricTime now, uint32_t paths) const {
  return count.first_loss && !count.left && now - count.last >= base_rtt_ * kAwayRtts &&
         count.since_last >= kExpectedUses * paths;
}

void PathUsage::judge_flow(uint32_t flow, const FlowCount& count, const Impairment& impairment,
                           uint32_t paths, FaultMeasurement& result) const {
  if (count.before_on_wire == 0 && count.during_on_wire == 0) return;
  PathUse use;
  use.flow = flow;
  use.wire = impairment.wire;
  use.impaired_from = impairment.from;
  use.uses_before = count.before_on_wire;
  use.uses_during = count.during_on_wire;
  use.last_use = count.last;
  // A flow that was not seen before has the share of equal spraying.
  use.avoided = count.before_on_wire > 0 ? uint64_t{count.since_last} * count.before_on_wire >=
                                               kExpectedUses * count.before
                                         : count.since_last >= kExpectedUses * paths;
  const FabricTime until = std::min(impairment.until, end_);
  use.still_used = count.during_on_wire > 0 && !use.avoided && count.last >= until - base_rtt_;
  result.uses.push_back(use);
  result.still_used = result.still_used || use.still_used;
  if (count.during_on_wire > 0) {
    result.detect = std::max(result.detect, count.last - impairment.from);
  }
  if (count.first_loss) {
    const FabricTime left = count.left.value_or(count.last) - *count.first_loss;
    result.left = std::max(result.left.value_or(left), left);
    result.never_left = result.never_left || !count.left;
  }
  if (use.avoided) {
    result.detection = Detection::kDetected;
  } else if (count.during_on_wire > 0 && result.detection == Detection::kNothing) {
    result.detection = Detection::kUnconfirmed;
  }
}

bool PathUsage::control_on(const WireMatcher& matcher, FabricTime from, FabricTime until,
                           bool probes) const {
  const auto& control = history_.control();
  auto arrival = std::lower_bound(control.begin(), control.end(), from,
                                  [](const ControlArrival& c, FabricTime t) { return c.t < t; });
  for (; arrival != control.end() && arrival->t < until; ++arrival) {
    const bool counts = probes || !arrival->probe;
    if (counts && matcher.crosses(arrival->source, arrival->destination, arrival->path))
      return true;
  }
  return false;
}

/// How often something was sent from then on that may have crossed the wire.
uint64_t PathUsage::chances_of(const WireMatcher& matcher, FabricTime from) const {
  uint64_t chances = 0;
  for (const Attempt& t : history_.attempts()) {
    if (t.start < from) continue;
    const Flow& flow = history_.flows()[history_.packets()[t.packet].flow];
    if (!matcher.reachable(flow.source, flow.destination)) continue;
    const auto path = built_path(topology_, flow.source, flow.destination, t.ev);
    const bool on_wire = path && matcher.crosses(flow.source, flow.destination, *path);
    // A flow of RC sends nothing elsewhere, and what goes elsewhere is no chance for this wire.
    const std::optional<Path> named = path_of(t.ev);
    chances += on_wire || !named || named->chosen != Chosen::kByFlow ? 1 : 0;
  }
  return chances;
}

/// A wire that carried data or SACKs before is usable again when anything crosses it after the last
/// heal. A probe counts, because a value that returns as a backup carries nothing else.
PathUsage::Regained PathUsage::regained(WireId wire, FabricTime first_down,
                                        FabricTime last_up) const {
  const WireMatcher matcher(topology_, wire);
  bool data_before = false, data_after = false;
  for_each_way_over(matcher, [&](uint32_t number) {
    const Way& way = ways_[number];
    data_before = data_before || way.first_start < first_down;
    data_after = data_after || (way.last_delivered && *way.last_delivered >= last_up);
  });
  if (data_before && data_after) return Regained::kYes;
  const bool control_before = control_on(matcher, FabricTime::zero(), first_down, false);
  if (!data_before && !control_before) return Regained::kNotUsedBefore;
  if (last_up >= end_) return Regained::kNo;
  // What arrives within a round trip of the heal may have crossed the wire before.
  if (control_on(matcher, last_up + base_rtt_, end_, true)) return Regained::kYes;
  const bool enough =
      data_before && chances_of(matcher, last_up) >= kExpectedUses * matcher.paths();
  return enough ? Regained::kNo : Regained::kNobodySent;
}

}  // namespace mrclab::analysis
