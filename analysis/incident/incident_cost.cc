#include "analysis/incident/incident_cost.h"

#include <cstdio>

namespace mrclab::analysis {
namespace {

std::string megabytes(uint64_t bytes) {
  char text[48];
  const auto value = static_cast<double>(bytes);
  if (bytes >= 10'000'000'000)
    std::snprintf(text, sizeof text, "%.1f GB", value * 1e-9);
  else if (bytes >= 1'000'000)
    std::snprintf(text, sizeof text, "%.1f MB", value * 1e-6);
  else if (bytes >= 1'000)
    std::snprintf(text, sizeof text, "%.1f KB", value * 1e-3);
  else
    return std::to_string(bytes) + " bytes";
  return text;
}

std::string percent(double part, double whole) {
  char text[48];
  const double share = whole > 0 ? 100 * part / whole : 0.0;
  std::snprintf(text, sizeof text, share > 0 && share < 0.1 ? "%.2g %%" : "%.1f %%", share);
  return text;
}

}  // namespace

std::optional<FabricTime> completion(const HostReports& hosts, const PacketHistory& history) {
  if (hosts.hosts.empty() || history.deliveries().empty()) return std::nullopt;
  for (const HostReport& host : hosts.hosts) {
    for (const QueueReport& queue : host.queues) {
      if (queue.completed < queue.posted) return std::nullopt;
    }
  }
  return history.deliveries().back().t;
}

IncidentCost incident_cost(const GoodputMeter& run, const GoodputMeter& twin, FabricTime end) {
  IncidentCost cost;
  cost.end = end;
  cost.delivered = run.bytes_between(FabricTime::zero(), end).value;
  cost.twin_delivered = twin.bytes_between(FabricTime::zero(), end).value;
  if (cost.delivered < cost.twin_delivered) cost.behind = end - twin.time_of(Bytes{cost.delivered});
  return cost;
}

std::string to_string(const IncidentCost& cost) {
  const std::string by = " by " + to_string(cost.end);
  const uint64_t missing =
      cost.twin_delivered > cost.delivered ? cost.twin_delivered - cost.delivered : 0;
  const std::string less = missing == 0 ? ""
                                        : megabytes(missing) + " (" +
                                              percent(static_cast<double>(missing),
                                                      static_cast<double>(cost.twin_delivered)) +
                                              ") less delivered" + by + " than without the faults";
  if (cost.work_ends && cost.twin_completed) {
    const FabricTime without = *cost.twin_completed;
    const std::string same = "without the faults it is done at " + to_string(without);
    if (!cost.completed) return "the work is not done" + by + ", " + same + "; " + less;
    if (*cost.completed <= without)
      return "no time: the work is done at " + to_string(*cost.completed) + ", and " + same;
    const FabricTime later = *cost.completed - without;
    return to_string(later) + " (" +
           percent(static_cast<double>(later.ps()), static_cast<double>(without.ps())) +
           "): the work is done at " + to_string(*cost.completed) + ", " + same;
  }
  if (missing == 0)
    return "nothing: " + megabytes(cost.delivered) + " delivered" + by + ", as without the faults";
  return less + ": " + to_string(cost.behind) + " behind";
}

}  // namespace mrclab::analysis
