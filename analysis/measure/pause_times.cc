#include "analysis/measure/pause_times.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "fabric/packet/pause_frame.h"

namespace mrclab::analysis {
namespace {

/// A neighbour asks for so many quanta from an instant on; 0: the pause ends.
struct Asked {
  FabricTime t;
  uint16_t quanta;
};

/// The rate of a wire from an instant on, in order of time.
struct Rated {
  FabricTime t;
  BitRate rate;
};
using Rates = std::vector<Rated>;

BitRate rate_at(const Rates& rates, FabricTime t, BitRate as_built) {
  const auto after = std::partition_point(rates.begin(), rates.end(),
                                          [&](const Rated& rated) { return rated.t <= t; });
  const BitRate rate = after == rates.begin() ? BitRate{} : std::prev(after)->rate;
  return rate == BitRate{} ? as_built : rate;
}

/// For each wire whose rate the schedule changes: the rates it has, by their start.
std::map<uint32_t, Rates> rates_of(std::span<const ScheduledEffect> schedule) {
  std::map<uint32_t, Rates> rates;
  for (const ScheduledEffect& scheduled : schedule) {
    const auto* rate = std::get_if<WireRate>(&scheduled.effect);
    if (rate != nullptr) rates[rate->wire.value].push_back({scheduled.at, rate->rate});
  }
  for (auto& [wire, list] : rates) {
    std::stable_sort(list.begin(), list.end(),
                     [](const Rated& a, const Rated& b) { return a.t < b.t; });
  }
  return rates;
}

std::vector<PausedSpan> spans_of(PortRef port, BitRate as_built, const Rates& rates,
                                 std::vector<Asked> asked, FabricTime end) {
  std::stable_sort(asked.begin(), asked.end(),
                   [](const Asked& a, const Asked& b) { return a.t < b.t; });
  std::vector<PausedSpan> spans;
  for (const Asked& each : asked) {
    if (each.t >= end) break;
    const bool goes_on = !spans.empty() && spans.back().until >= each.t;
    if (!goes_on && each.quanta == 0) continue;
    if (!goes_on) spans.push_back({port, each.t, each.t});
    spans.back().until = each.t + pause_time(each.quanta, rate_at(rates, each.t, as_built));
  }
  for (PausedSpan& span : spans) span.until = std::min(span.until, end);
  std::erase_if(spans, [](const PausedSpan& span) { return span.from == span.until; });
  return spans;
}

}  // namespace

PauseTimes::PauseTimes(const Topology& topology, std::span<const PauseSeen> pauses,
                       std::span<const ScheduledEffect> schedule, FabricTime end) {
  if (pauses.empty()) return;
  size_t ports = 0;
  for (const NodeSite& site : topology.nodes) {
    first_port_.push_back(ports);
    ports += site.ports.size();
  }
  ports_.resize(ports);
  std::vector<std::vector<Asked>> asked(ports);
  for (const PauseSeen& pause : pauses) {
    asked[place_of(pause.port)].push_back(
        {pause.t + topology.ingress_latency(pause.port.node), pause.quanta});
  }
  for (const ScheduledEffect& scheduled : schedule) {
    const auto* carrier = std::get_if<PortCarrier>(&scheduled.effect);
    if (carrier != nullptr) asked[place_of(carrier->port)].push_back({scheduled.at, 0});
  }
  std::map<uint32_t, Rates> rates = rates_of(schedule);
  for (const NodeSite& site : topology.nodes) {
    for (uint32_t i = 0; i < site.ports.size(); ++i) {
      const PortRef port{site.id, PortId{i}};
      std::vector<PausedSpan>& spans = ports_[place_of(port)];
      spans = spans_of(port, topology.wire(site.ports[i].out).rate, rates[site.ports[i].out.value],
                       std::move(asked[place_of(port)]), end);
      spans_.insert(spans_.end(), spans.begin(), spans.end());
    }
  }
  std::stable_sort(spans_.begin(), spans_.end(),
                   [](const PausedSpan& a, const PausedSpan& b) { return a.from < b.from; });
}

const PausedSpan* PauseTimes::last_before(PortRef port, FabricTime t) const {
  const std::span<const PausedSpan> spans = spans_at(port);
  const auto after = std::partition_point(spans.begin(), spans.end(),
                                          [&](const PausedSpan& span) { return span.from < t; });
  return after == spans.begin() ? nullptr : &*std::prev(after);
}

FabricTime PauseTimes::paused(PortRef port, FabricTime from, FabricTime until) const {
  FabricTime sum;
  for (const PausedSpan& span : spans_at(port)) {
    const FabricTime begin = std::max(span.from, from), over = std::min(span.until, until);
    if (begin < over) sum += over - begin;
  }
  return sum;
}

}  // namespace mrclab::analysis
