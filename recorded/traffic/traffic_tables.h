#pragma once
// One function per section of the traffic report: the parts of traffic_report.h, not for other use.

#include <string>
#include <string_view>

#include "analysis/traffic/traffic.h"
#include "recorded/traffic/report_table.h"
#include "recorded/traffic/traffic_context.h"

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

TrafficTable summary_table(const analysis::Traffic& traffic, const TrafficContext& context);
TrafficTable flows_table(const analysis::Traffic& traffic, const TrafficContext& context);
TrafficTable planes_table(const analysis::Traffic& traffic);
TrafficTable spray_table(const analysis::Traffic& traffic, const TrafficContext& context);
TrafficTable paths_table(const analysis::Traffic& traffic, const TrafficContext& context);
TrafficTable order_table(const analysis::Traffic& traffic, const TrafficContext& context);
TrafficTable delays_table(const analysis::Traffic& traffic, const TrafficContext& context);
TrafficTable answers_table(const analysis::Traffic& traffic, const TrafficContext& context);
TrafficTable formats_table(const analysis::Traffic& traffic, const TrafficContext& context);
TrafficTable vantage_table(const analysis::Traffic& traffic, const TrafficContext& context);
TrafficTable matches_table(const analysis::Traffic& traffic, const TrafficContext& context);
TrafficTable losses_table(const analysis::Traffic& traffic, const TrafficContext& context);
TrafficTable resent_table(const analysis::Traffic& traffic, const TrafficContext& context);
TrafficTable faults_table(const analysis::Traffic& traffic, const TrafficContext& context);
TrafficTable windows_table(const analysis::Traffic& traffic, const TrafficContext& context);
TrafficTable window_cuts_table(const analysis::Traffic& traffic, const TrafficContext& context);
TrafficTable window_records_table(const analysis::Traffic& traffic, const TrafficContext& context);
/// "h0>h5 0x2a".
std::string roce_flow_name(const Topology* topology, const analysis::RoceFlow& f);
void add_roce_flows(const analysis::Traffic& traffic, const TrafficContext& context,
                    TrafficTable& table);
void add_roce_summary(const analysis::Traffic& traffic, TrafficTable& table);
TrafficTable queue_pairs_table(const analysis::Traffic& traffic, const TrafficContext& context);
TrafficTable go_backs_table(const analysis::Traffic& traffic, const TrafficContext& context);
TrafficTable lost_psns_table(const analysis::Traffic& traffic, const TrafficContext& context);
TrafficTable rates_table(const analysis::Traffic& traffic, const TrafficContext& context);
TrafficTable rc_table(const analysis::Traffic& traffic, const TrafficContext& context);
TrafficTable pauses_table(const analysis::Traffic& traffic, const TrafficContext& context);
TrafficTable evs_table(const analysis::Traffic& traffic, const TrafficContext& context);
TrafficTable places_table(const analysis::Traffic& traffic, const TrafficContext& context);
/// Which records are of RoCEv2, by transport.
std::string roce_note(const analysis::Traffic& traffic);
/// A number; "all" for a pause of the whole link.
nlohmann::ordered_json priority_text(uint8_t priority);
/// Has MRC sent any data in the captures?
bool any_data_of_mrc(const analysis::Traffic& traffic);
/// Has a flow of RoCEv2 sent any, and does something show what became of it?
bool any_data_of_roce(const analysis::Traffic& traffic);
/// What stands for no rows in a section about MRC's data: `none` only where the captures have such data.
std::string no_rows_of_mrc(const analysis::Traffic& traffic, std::string_view none = "none");
TrafficTable opcodes_table(const analysis::Traffic& traffic, const TrafficContext& context);
TrafficTable pause_frames_table(const analysis::Traffic& traffic, const TrafficContext& context);
TrafficTable goodput_table(const analysis::Traffic& traffic, const TrafficContext& context);

}  // namespace mrclab::lab
