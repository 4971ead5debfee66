#pragma once
// perftest's figures and its output format (ib_write_bw, ib_write_lat), out of what applications
// measured. Times are fabric time; a Gb is 10^9 bits, as with perftest's --report_gbits.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "endpoint/base/work_report.h"
#include "fabric/base/units.h"

namespace mrclab::lab {

struct BandwidthRow {
  uint64_t bytes = 0;
  uint64_t iterations = 0;  ///< over all queue pairs of one direction
  double peak_gbps = 0;     ///< best piece of the run; 0 where perftest does not look for it
  double average_gbps = 0;
  double mpps = 0;  ///< messages
};

/// The row of writes with a count, from the first one posted to the last one acknowledged. The peak
/// is the best rate between any posting and any completion, as in perftest, which does not look for
/// it beyond 20,000 iterations. Reports of several directions add up (perftest -b).
BandwidthRow bandwidth_row(const std::vector<endpoint::WorkReport>& work);
/// The row of writes until the end (perftest -D): all that was acknowledged in `duration`; no peak.
BandwidthRow bandwidth_row(const std::vector<endpoint::WorkReport>& work, FabricTime duration);

struct LatencyRow {
  uint64_t bytes = 0;
  uint64_t iterations = 0;
  double min_us = 0, max_us = 0;
  double typical_us = 0;  ///< median
  double average_us = 0, deviation_us = 0;
  double percentile_99_us = 0, percentile_99_9_us = 0;  ///< nearest rank
};
/// Half of every round trip. `work` has at least one sample.
LatencyRow latency_row(const endpoint::WorkReport& work);

/// The block above the table: title, and pairs of names and values, two to a line.
std::string perftest_header(std::string_view title,
                            const std::vector<std::pair<std::string, std::string>>& fields);
std::string perftest_line();
std::string bandwidth_heading();
std::string latency_heading();
std::string to_text(const BandwidthRow& row);
std::string to_text(const LatencyRow& row);

/// The row with the names of perftest's --out_json.
nlohmann::ordered_json to_json(const BandwidthRow& row);
nlohmann::ordered_json to_json(const LatencyRow& row);

}  // namespace mrclab::lab
