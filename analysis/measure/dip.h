#pragma once
// The transient and the steady part of a fault's dip in goodput. While a fault is on, the transport first has to
// find out and move away; then what is missing is the capacity that the fault took.
//
//   outage     from the fault's start to the first instant at which any of what it impaired is whole
//              again, or to the end of the run
//   steady     mean goodput of the last 20 RTT of the outage, as the baseline is that of the last 20 RTT
//              before the fault; empty if its two halves differ by more than 5 %, as for the baseline
//   transient  from the fault's start to the end of the last interval of one base RTT, counted from the
//              start, that lies before those 20 RTT and is below the steady goodput by more than the
//              tolerance; zero if there is none
//   tolerance  5 % of the baseline, or as much as the lowest interval of one base RTT in the baseline is
//              below it if that is more: a workload that comes in bursts has such intervals anyway
//   lowest     the goodput of the lowest of the transient's intervals
//
// The parts of a dip cannot be separated where the outage is shorter than 40 RTT (20 to move away in, 20
// to measure), where another fault is on or begins meanwhile, or where there is no usable baseline.

#include <optional>
#include <span>
#include <string>

#include "analysis/history/fault_span.h"
#include "fabric/base/units.h"

namespace mrclab::analysis {

struct Measurements;

/// RTTs of an outage that are needed: to move away in, and to measure what is left.
inline constexpr int64_t kDipRtts = 40;

/// Rates are goodput; the baseline stands beside them, so that shares of it can be shown.
struct Dip {
  FabricTime base_rtt;
  BitRate baseline;
  BitRate steady;
  FabricTime
      transient;   ///< a multiple of the base RTT; zero: goodput never was below the steady one
  BitRate lowest;  ///< meaningful if there is a transient
  bool operator==(const Dip&) const = default;
};

/// A dip, or why its parts cannot be separated.
struct DipMeasurement {
  std::optional<Dip> dip;
  std::string why_not;  ///< empty if there is a dip
};

/// Measures the dip of the fault `faults[which]` by the goodput of the whole run.
DipMeasurement measure_dip(const Measurements& measurements, std::span<const FaultSpan> faults,
                           size_t which);

/// "transient for 9 RTT (99.2us), at the lowest 21.9 % of baseline; then steady at 87.7 %"
std::string to_string(const Dip& dip);

}  // namespace mrclab::analysis
