#include "analysis/measure/dip.h"

#include <algorithm>
#include <cstdio>

#include "analysis/measure/measurements.h"

namespace mrclab::analysis {
namespace {

/// The first instant at which any of what the fault impaired is whole again, or the end of the run.
FabricTime end_of_outage(const FaultSpan& fault, FabricTime end) {
  FabricTime first = std::min(fault.healed_at, end);
  for (const Impairment& impairment : fault.impairments) first = std::min(first, impairment.until);
  for (const SlowedReceiver& receiver : fault.receivers) first = std::min(first, receiver.until);
  return first;
}

bool is_alone(std::span<const FaultSpan> faults, size_t which, FabricTime until) {
  for (size_t other = 0; other < faults.size(); ++other) {
    const bool meets = faults[other].start < until && faults[other].healed_at > faults[which].start;
    if (other != which && meets) return false;
  }
  return true;
}

BitRate less(BitRate rate, BitRate by) { return {rate.bps - std::min(rate.bps, by.bps)}; }

/// How far goodput may be below the steady one for a base RTT without that being a dip.
BitRate tolerance_of(const Measurements& m, FabricTime first_fault) {
  BitRate lowest = m.baseline.rate;
  for (int64_t i = 1; i <= kWindowRtts; ++i) {
    const FabricTime from = first_fault - m.base_rtt * i;
    lowest = std::min(lowest, m.goodput.rate_between(from, from + m.base_rtt));
  }
  return std::max(BitRate{m.baseline.rate.bps / 20}, less(m.baseline.rate, lowest));
}

std::string share_of_baseline(BitRate rate, BitRate of) {
  char text[48];
  std::snprintf(text, sizeof text, "%.1f %%",
                100 * static_cast<double>(rate.bps) / static_cast<double>(of.bps));
  return text;
}

}  // namespace

DipMeasurement measure_dip(const Measurements& m, std::span<const FaultSpan> faults, size_t which) {
  if (!m.baseline.usable) return {std::nullopt, m.baseline.why_not};
  const FabricTime start = faults[which].start;
  const FabricTime until = end_of_outage(faults[which], m.delivered_until);
  if (until - start < m.base_rtt * kDipRtts) {
    return {std::nullopt, "the outage is shorter than " + std::to_string(kDipRtts) + " RTT"};
  }
  if (!is_alone(faults, which, until)) {
    return {std::nullopt, "another fault is on at the same time"};
  }
  const Level steady = level_before(until, m.goodput, m.window());
  if (!steady.even) {
    return {std::nullopt, "goodput varies by more than 5 % in the last 20 RTT of the outage"};
  }
  const BitRate limit = less(steady.rate, tolerance_of(m, first_start(faults)));
  Dip dip{m.base_rtt, m.baseline.rate, steady.rate, FabricTime::zero(), steady.rate};
  BitRate lowest_so_far = steady.rate;
  for (FabricTime at = start; at + m.base_rtt <= until - m.window(); at += m.base_rtt) {
    const BitRate rate = m.goodput.rate_between(at, at + m.base_rtt);
    if (rate >= limit) continue;
    lowest_so_far = std::min(lowest_so_far, rate);
    dip.transient = at + m.base_rtt - start;
    dip.lowest = lowest_so_far;
  }
  return {dip, ""};
}

std::string to_string(const Dip& dip) {
  const std::string steady = share_of_baseline(dip.steady, dip.baseline);
  if (dip.transient == FabricTime::zero()) {
    return "steady at " + steady + " of baseline, without a transient part";
  }
  char time[48];
  std::snprintf(time, sizeof time, "%.3gus", dip.transient.us());
  return "transient for " + std::to_string(dip.transient / dip.base_rtt) + " RTT (" + time +
         "), at the lowest " + share_of_baseline(dip.lowest, dip.baseline) +
         " of baseline; then steady at " + steady;
}

}  // namespace mrclab::analysis
