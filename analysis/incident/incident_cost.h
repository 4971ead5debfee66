#pragma once
// What the faults of a run cost its work: the run held against its fault-free twin, the same scenario and seed
// simulated without its faults (analysis/checks/twin.h).

#include <optional>
#include <string>

#include "analysis/history/reports.h"
#include "analysis/measure/measurements.h"

namespace mrclab::analysis {

struct IncidentCost {
  FabricTime end;                              ///< of both
  uint64_t delivered = 0, twin_delivered = 0;  ///< bytes of first whole arrivals by then
  FabricTime behind;       ///< so much earlier the twin had delivered what the run delivered in all
  bool work_ends = false;  ///< the workload ends by itself
  std::optional<FabricTime> completed, twin_completed;  ///< when it did; empty: not by the end
};

/// When the last byte of a workload that ends had arrived; empty: not all did. Applications post what comes next when
/// something is done, so a workload of which nothing is under way is at its end.
std::optional<FabricTime> completion(const HostReports& hosts, const PacketHistory& history);

IncidentCost incident_cost(const GoodputMeter& run, const GoodputMeter& twin, FabricTime end);

/// "16.1 MB (3.3 %) less delivered than without the faults by 1.2ms: 40us behind".
std::string to_string(const IncidentCost& cost);

}  // namespace mrclab::analysis
