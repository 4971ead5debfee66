#pragma once
// One function per section of the traffic report: the parts of traffic_report.h, not for other use.

#include "lab/traffic/traffic_report.h"

namespace mrclab::lab {

/// Sums over all flows.
struct TrafficTotals {
  uint64_t flows = 0, packets = 0, resent = 0, delivered = 0, delivered_bytes = 0, duplicates = 0;
  uint64_t trimmed = 0, lost = 0, open = 0, reordered = 0, lost_too_late = 0;
  uint64_t acknowledged = 0;
  uint64_t by_arrivals = 0, by_answers = 0, losses_known = 0;  ///< flows
  uint64_t needed = 0, needless_there = 0, needless_underway = 0, need_unknown = 0;
};
TrafficTotals totals_of(const analysis::Traffic& traffic);

ReportTable summary_table(const analysis::Traffic& traffic, const TrafficContext& context);
ReportTable flows_table(const analysis::Traffic& traffic, const TrafficContext& context);
ReportTable planes_table(const analysis::Traffic& traffic);
ReportTable spray_table(const analysis::Traffic& traffic, const TrafficContext& context);
ReportTable paths_table(const analysis::Traffic& traffic, const TrafficContext& context);
ReportTable order_table(const analysis::Traffic& traffic, const TrafficContext& context);
ReportTable delays_table(const analysis::Traffic& traffic, const TrafficContext& context);
ReportTable answers_table(const analysis::Traffic& traffic, const TrafficContext& context);
ReportTable formats_table(const analysis::Traffic& traffic, const TrafficContext& context);
ReportTable vantage_table(const analysis::Traffic& traffic, const TrafficContext& context);
ReportTable matches_table(const analysis::Traffic& traffic, const TrafficContext& context);
ReportTable losses_table(const analysis::Traffic& traffic, const TrafficContext& context);
ReportTable resent_table(const analysis::Traffic& traffic, const TrafficContext& context);
ReportTable faults_table(const analysis::Traffic& traffic, const TrafficContext& context);
ReportTable windows_table(const analysis::Traffic& traffic, const TrafficContext& context);
ReportTable window_cuts_table(const analysis::Traffic& traffic, const TrafficContext& context);
ReportTable window_records_table(const analysis::Traffic& traffic, const TrafficContext& context);
ReportTable evs_table(const analysis::Traffic& traffic, const TrafficContext& context);
ReportTable places_table(const analysis::Traffic& traffic, const TrafficContext& context);
ReportTable goodput_table(const analysis::Traffic& traffic, const TrafficContext& context);

}  // namespace mrclab::lab
