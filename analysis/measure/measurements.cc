// Goodput, baseline and recovery. Detection and what was regained: path_use.cc.

#include "analysis/measure/measurements.h"

#include <algorithm>

namespace mrclab::analysis {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr int64_t kStepsPerRtt = 20;  // how finely the 20-RTT window slides
constexpr int64_t kMaxSteps = 1 << 16;
constexpr int64_t kMaxBins = 400;

PlaneSeries series_of(const Topology& topology, const PacketHistory& history,
                      const Measurements& m) {
  PlaneSeries series;
  // About one RTT wide, and dividing the run evenly: a last partial bin would look like a dip.
  const FabricTime about = std::max({m.base_rtt, m.end / kMaxBins, FabricTime::from_ns(1)});
  const int64_t bins = std::clamp<int64_t>(m.end / about, 1, kMaxBins);
  series.bin = std::max(m.end / bins, FabricTime::from_ps(1));
  series.bytes.assign(topology.planes, std::vector<uint64_t>(static_cast<size_t>(bins), 0));
  for (const Delivery& d : history.deliveries()) {
    const int64_t bin = d.t / series.bin;
    if (bin >= 0 && bin < bins && d.plane < topology.planes) {
      series.bytes[d.plane][static_cast<size_t>(bin)] += d.bytes;
    }
  }
  return series;
}

}  // namespace

GoodputMeter::GoodputMeter(std::span<const Delivery> deliveries) {
  times_.reserve(deliveries.size());
  sums_.reserve(deliveries.size());
  uint64_t sum = 0;
  for (const Delivery& d : deliveries) {
    times_.push_back(d.t);
    sums_.push_back(sum += d.bytes);
  }
}

Bytes GoodputMeter::bytes_between(FabricTime from, FabricTime until) const {
  const auto before = [&](FabricTime t) {
    const auto index = std::lower_bound(times_.begin(), times_.end(), t) - times_.begin();
    return index == 0 ? 0 : sums_[static_cast<size_t>(index) - 1];
  };
  return from < until ? Bytes{before(until) - before(from)} : Bytes{0};
}

FabricTime GoodputMeter::time_of(Bytes bytes) const {
  if (bytes.value == 0 || times_.empty()) return FabricTime::zero();
  const auto reached = std::lower_bound(sums_.begin(), sums_.end(), bytes.value);
  return times_[std::min(static_cast<size_t>(reached - sums_.begin()), times_.size() - 1)];
}

BitRate GoodputMeter::rate_between(FabricTime from, FabricTime until) const {
  if (from >= until) return {};
  const Wide bits = Wide{bytes_between(from, until).value} * 8;
  return {static_cast<uint64_t>(bits * 1'000'000'000'000u /
                                static_cast<uint64_t>((until - from).ps()))};
}

FabricTime first_start(std::span<const FaultSpan> faults) {
  FabricTime first = FabricTime::never();
  for (const FaultSpan& fault : faults) first = std::min(first, fault.start);
  return first;
}

Level level_before(FabricTime at, const GoodputMeter& goodput, FabricTime window) {
  const FabricTime from = at - window, middle = from + window / 2;
  const uint64_t early = goodput.bytes_between(from, middle).value;
  const uint64_t late = goodput.bytes_between(middle, at).value;
  Level level;
  level.rate = goodput.rate_between(from, at);
  if (early + late == 0) return level;
  const uint64_t difference = early > late ? early - late : late - early;
  level.variation = 2.0 * static_cast<double>(difference) / static_cast<double>(early + late);
  level.even = difference * 2 * 100 <= (early + late) * 5;
  return level;
}

Baseline baseline_before(FabricTime first_fault, const GoodputMeter& goodput, FabricTime window,
                         FabricTime end) {
  Baseline baseline;
  if (first_fault >= end) {
    baseline.why_not = "there is no fault, so nothing to take a baseline before";
    return baseline;
  }
  const FabricTime from = first_fault - window;
  if (from < FabricTime::zero()) {
    baseline.why_not = "the first fault comes at " + to_string(first_fault) +
                       ", less than 20 RTT (" + to_string(window) + ") after the start";
    return baseline;
  }
  const Level level = level_before(first_fault, goodput, window);
  baseline.rate = level.rate;
  if (level.rate.bps == 0) {
    baseline.why_not = "nothing was delivered in the 20 RTT before the first fault";
    return baseline;
  }
  baseline.variation = level.variation;
  baseline.usable = level.even;
  if (!baseline.usable) {
    baseline.why_not = "goodput varies by " +
                       std::to_string(static_cast<int>(baseline.variation * 100 + 0.5)) +
                       " % in the 20 RTT before the first fault (at most 5 % allowed)";
  }
  return baseline;
}

BitRate share_of(BitRate rate, Probability share) {
  return {static_cast<uint64_t>(Wide{rate.bps} * share.ppb / Probability::kOne)};
}

namespace {

/// How long after `start` the first window ends that reaches its target; `reaches` returns whether the
/// window that ends at an instant does. Zero if no window misses it; empty if none reaches it.
template <class Reaches>
std::optional<FabricTime> first_window(const Measurements& m, FabricTime start,
                                       const Reaches& reaches) {
  if (start >= m.end) return std::nullopt;            // also of a fault that had no effect at all
  const FabricTime first_whole = start + m.window();  // the first that lies behind the start
  if (first_whole > m.end) return std::nullopt;
  const FabricTime step =
      std::max({m.base_rtt / kStepsPerRtt, (m.end - start) / kMaxSteps, FabricTime::from_ps(1)});
  bool missed = false;
  for (FabricTime at = start; at <= first_whole && !missed; at += step) missed = !reaches(at);
  if (!missed && reaches(first_whole)) return FabricTime::zero();
  for (FabricTime at = first_whole; at <= m.end; at += step) {
    if (reaches(at)) return at - start;
  }
  return std::nullopt;
}

BitRate rate_of_window(const GoodputMeter& goodput, const Measurements& m, FabricTime at) {
  return goodput.rate_between(std::max(at - m.window(), FabricTime::zero()), at);
}

}  // namespace

std::optional<FabricTime> recovery_time(const Measurements& m, FabricTime start, BitRate target) {
  return first_window(m, start,
                      [&](FabricTime at) { return rate_of_window(m.goodput, m, at) >= target; });
}

std::optional<FabricTime> recovery_time(const Measurements& m, FabricTime start,
                                        const GoodputMeter& twin, Probability to) {
  return first_window(m, start, [&](FabricTime at) {
    return rate_of_window(m.goodput, m, at) >= share_of(rate_of_window(twin, m, at), to);
  });
}

Measurements measure(const Topology& topology, const PacketHistory& history,
                     std::span<const FaultSpan> faults, FabricTime base_rtt, FabricTime end) {
  Measurements m;
  m.end = end;
  m.delivered_until = std::max(end - topology.host_latency, FabricTime::zero());
  m.base_rtt = base_rtt;
  m.goodput = GoodputMeter(history.deliveries());
  m.line_rate = {topology.host_rate.bps * topology.planes * topology.host_count()};
  m.total = m.goodput.rate_between(FabricTime::zero(), end);
  m.baseline = baseline_before(first_start(faults), m.goodput, m.window(), end);
  m.planes = series_of(topology, history, m);
  const PathUsage usage(topology, history, base_rtt, end);
  for (const FaultSpan& fault : faults) m.faults.push_back(usage.measure(fault));
  return m;
}

}  // namespace mrclab::analysis
