#pragma once
// How evenly flows share: their rates in a window of fabric time, and a table of them.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "endpoint/base/work_report.h"
#include "fabric/base/units.h"

namespace mrclab::lab {

struct FlowRow {
  std::string name;  ///< "h1 -> h5"
  double gbps = 0;
  double share = 0;  ///< share of the rate that it could get
};

struct FlowSummary {
  double min = 0, mean = 0, max = 0;  ///< shares
  double jain = 0;                    ///< fairness: (sum x)^2 / (n x sum x^2), 1 if all are alike
  double total_gbps = 0;
};

/// A stretch of fabric time.
struct Window {
  FabricTime from;
  FabricTime to;
};

/// Rate of each flow (all queue pairs from one host to another) in the window, by what was
/// acknowledged. A message that was under way at an edge counts in part: as much of it as of the
/// time between the acknowledgement before it and its own lies in the window; the last one, which
/// was not acknowledged, does not count. `full_gbps` is share 1.
std::vector<FlowRow> flow_rows(const std::vector<endpoint::WorkReport>& work, Window window,
                               double full_gbps);
FlowSummary summary_of(const std::vector<FlowRow>& rows);

std::string flow_table(const std::vector<FlowRow>& rows);
std::string summary_line(const FlowSummary& summary, size_t flows);
nlohmann::ordered_json to_json(const std::vector<FlowRow>& rows);
nlohmann::ordered_json to_json(const FlowSummary& summary);

}  // namespace mrclab::lab
