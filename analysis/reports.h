#pragma once
// What the judge is told, as opposed to what it reads from captures: the hosts' own reports and the
// timing of the run. Both go into the verdict; the hosts' word is checked against the captures.

#include <cstdint>
#include <string>
#include <vector>

#include "fabric/units.h"

namespace mrclab::analysis {

/// What one host says at the end of a run.
struct HostReport {
  std::string host;  ///< "h3"
  uint32_t qps = 0;
  uint32_t qps_in_error = 0;
  uint64_t bytes_verified = 0;     ///< bytes that arrived here and were compared with what is right
  uint64_t bytes_wrong = 0;        ///< of these, different
  uint64_t access_violations = 0;  ///< writes refused by rkey or bounds, which must not happen
  std::string error;               ///< first error in words, if any
};

struct HostReports {
  std::vector<HostReport> hosts;
};

enum class TimingMode : uint8_t { kCarried, kWall };

/// The timing block of verdict.json.
struct TimingReport {
  TimingMode mode = TimingMode::kCarried;
  bool faithful = true;
  uint64_t late_frames = 0;
  uint64_t gaps = 0;
  int64_t min_slack_ns = 0;  ///< lab nanoseconds between arrival in the process and need
  double dilation_min = 0, dilation_mean = 0, dilation_max = 0;  ///< lab seconds per fabric second
  std::vector<std::string> reasons;                              ///< when not faithful: who and why
};

}  // namespace mrclab::analysis
