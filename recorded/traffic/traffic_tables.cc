// Sections about paths, order, delays and answers.

#include "recorded/traffic/traffic_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "analysis/traffic/spray_statistic.h"
#include "recorded/traffic/traffic_names.h"

namespace mrclab::lab {
namespace {

using analysis::FlowPath;
using analysis::LogHistogram;
using analysis::SprayStatistic;
using analysis::Traffic;
using Json = nlohmann::ordered_json;

/// Below this an uneven spray is no chance: one sender in a thousand that picks at random is as uneven.
constexpr double kUnlikely = 0.001;

double spread(std::span<const uint64_t> counts) {
  const auto [low, high] = std::minmax_element(counts.begin(), counts.end());
  const double mean = static_cast<double>(std::accumulate(counts.begin(), counts.end(), 0.0)) /
                      static_cast<double>(counts.size());
  return mean == 0 ? 0 : static_cast<double>(*high - *low) / mean;
}

void add_spray(TrafficTable& table, const std::string& of, const std::string& over,
               const std::vector<uint64_t>& counts) {
  if (counts.size() < 2) return;
  const SprayStatistic spray = analysis::spray_statistic(counts);
  const auto [low, high] = std::minmax_element(counts.begin(), counts.end());
  table.rows.push_back({of, over, counts.size(), spray.packets, *low, *high, spread(counts),
                        spray.chi_square, spray.p, spray.p < kUnlikely ? "uneven" : "even"});
}

Json value_or_none(const LogHistogram& h, uint64_t value) {
  return h.count() == 0 ? Json() : Json(value);
}

void add_distribution(TrafficTable& table, const char* what, const LogHistogram& h) {
  table.rows.push_back({what, h.count(), value_or_none(h, h.min()),
                        value_or_none(h, h.quantile(0.5)), value_or_none(h, h.quantile(0.9)),
                        value_or_none(h, h.quantile(0.99)), value_or_none(h, h.quantile(0.999)),
                        value_or_none(h, h.max()), h.count() == 0 ? Json() : Json(h.mean())});
}

std::vector<ReportColumn> distribution_columns(Shown shown, const std::string& unit) {
  return {{"what", "what"},
          {"count", "count"},
          {"min" + unit, "least", shown},
          {"p50" + unit, "50 %", shown},
          {"p90" + unit, "90 %", shown},
          {"p99" + unit, "99 %", shown},
          {"p999" + unit, "99.9 %", shown},
          {"max" + unit, "most", shown},
          {"mean" + unit, "mean", shown}};
}

}  // namespace

TrafficTable spray_table(const Traffic& traffic, const TrafficContext& context) {
  TrafficTable table{
      "spray",
      "Spray of first transmissions: chi-square test against an even one (p below 0.001: "
      "uneven by more than chance)",
      {{"of", "of"},
       {"over", "over"},
       {"paths", "n"},
       {"packets", "packets"},
       {"least", "least"},
       {"most", "most"},
       {"spread_share", "", Shown::kShare},
       {"chi_square", "chi2"},
       {"p", "p"},
       {"verdict", "it is"}},
      {},
      {},
      true};
  table.without_rows = no_rows_of_mrc(traffic, "none: nothing was sent over two paths or planes");
  std::map<uint32_t, std::vector<uint64_t>> by_flow;
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> flow_planes;
  std::map<uint32_t, uint64_t> planes, across, local;
  for (const FlowPath& p : traffic.paths) {
    if (p.packets == 0) continue;
    by_flow[p.flow].push_back(p.packets);
    flow_planes[{p.flow, p.plane}] += p.packets;
    planes[p.plane] += p.packets;
    const auto path = path_of(p.ev);
    (path && path->uplink == kT0LocalUplink ? local : across)[p.ev.value] += p.packets;
  }
  const auto values = [](const auto& map) {
    std::vector<uint64_t> counts;
    for (const auto& [key, count] : map) counts.push_back(count);
    return counts;
  };
  add_spray(table, "all", "planes", values(planes));
  add_spray(table, "all across T1", "paths", values(across));
  table.brief = any_data_of_mrc(traffic) || traffic.roce.frames == 0;
  add_spray(table, "all T0-local", "paths", values(local));
  for (const auto& [flow, counts] : by_flow) {
    const std::string name =
        flow_name(context.topology, traffic.conversations[traffic.flows[flow].conversation]);
    std::vector<uint64_t> of_planes;
    for (auto at = flow_planes.lower_bound({flow, 0});
         at != flow_planes.end() && at->first.first == flow; ++at) {
      of_planes.push_back(at->second);
    }
    add_spray(table, name, "planes", of_planes);
    add_spray(table, name, "paths", counts);
  }
  return table;
}

TrafficTable paths_table(const Traffic& traffic, const TrafficContext&) {
  TrafficTable table{"paths",
                     "Paths, of all flows together",
                     {{"path", "path"},
                      {"ev", "EV"},
                      {"flows", "flows"},
                      {"packets", "packets"},
                      {"delivered_bytes", "", Shown::kPlain},
                      {"resent", "resent"},
                      {"lost", "lost"},
                      {"lost_too_late", "too late"},
                      {"trimmed", "trimmed"},
                      {"marked_share", "CE", Shown::kShare},
                      {"times_left", "left"}},
                     {},
                     {},
                     false};
  table.without_rows = no_rows_of_mrc(traffic);
  struct Sum {
    uint64_t flows = 0, arrived = 0, marked = 0;
    FlowPath path;
  };
  std::map<uint32_t, Sum> sums;
  for (const FlowPath& p : traffic.paths) {
    if (p.packets + p.resent + p.delivered + p.lost == 0) continue;
    Sum& sum = sums[p.ev.value];
    ++sum.flows;
    sum.path.packets += p.packets;
    sum.path.resent += p.resent;
    sum.path.delivered_bytes += p.delivered_bytes;
    sum.path.lost += p.lost;
    sum.path.lost_too_late += p.lost_too_late;
    sum.path.trimmed += p.trimmed;
    sum.path.times_left += p.times_left;
    sum.marked += p.marked;
    sum.arrived += p.delivered + p.trimmed;
  }
  for (const auto& [ev, sum] : sums) {
    const FlowPath& p = sum.path;
    table.rows.push_back(
        {path_name(traffic, {ev}), entropy_text(traffic, {ev}), sum.flows, p.packets,
         p.delivered_bytes, p.resent, p.lost, p.lost_too_late, p.trimmed,
         sum.arrived == 0
             ? Json()
             : Json(static_cast<double>(sum.marked) / static_cast<double>(sum.arrived)),
         p.times_left});
  }
  return table;
}

TrafficTable order_table(const Traffic& traffic, const TrafficContext&) {
  TrafficTable table{
      "order",
      "Order of arrival, in packets",
      distribution_columns(Shown::kPlain, ""),
      {},
      {"distance: of the reordered packets (RFC 4737), how far behind the highest PSN",
       "held: packets beyond the first gap at each arrival (RFC 5236, RBD)"},
      true};
  add_distribution(table, "distance", traffic.distance);
  add_distribution(table, "held", traffic.held);
  add_distribution(table, "SACK span", traffic.sack_span);
  table.brief = any_data_of_mrc(traffic) || traffic.roce.frames == 0;
  return table;
}

TrafficTable delays_table(const Traffic& traffic, const TrafficContext&) {
  TrafficTable table{"delays", "Delays", distribution_columns(Shown::kNanoseconds, "_ns"),
                     {},       {},       true};
  if (traffic.roce.frames > 0) {
    add_distribution(table, "RoCE: packet to ACK", traffic.roce.rtt_ns);
    add_distribution(table, "RoCE: one way", traffic.roce.one_way_ns);
    if (!any_data_of_mrc(traffic)) return table;
  }
  add_distribution(table, "RTT by capture", traffic.rtt_ns);
  add_distribution(table, "RTT by timestamp", traffic.timestamp_rtt_ns);
  add_distribution(table, "one way", traffic.one_way_ns);
  add_distribution(table, "packet to its SACK", traffic.answer_ns);
  add_distribution(table, "probes", traffic.probe_rtt_ns);
  return table;
}

TrafficTable answers_table(const Traffic& traffic, const TrafficContext&) {
  const auto& c = traffic.counters;
  TrafficTable table{"answers", "Answers", {}, {{}}, {}, true};
  const auto add = [&table](std::string key, std::string heading, Json value) {
    table.columns.push_back({std::move(key), std::move(heading)});
    table.rows[0].push_back(std::move(value));
  };
  const TrafficTotals totals = totals_of(traffic);
  add("sacks", "SACKs", c.sacks);
  add("packets_per_sack", "packets per SACK",
      c.sacks == 0 || totals.delivered == 0
          ? Json()
          : Json(static_cast<double>(totals.delivered) / static_cast<double>(c.sacks)));
  add("sacks_with_gaps", "SACKs that show a gap", c.sacks_with_holes);
  add("marks_skip_once", "SACKs: skip this EV once", c.marks_skip_once);
  add("marks_always_skip", "SACKs: always skip it", c.marks_always_skip);
  add("acks", "transport ACKs", c.acks);
  add("nacks", "NACKs", c.nacks);
  for (size_t reason = 0; reason < c.nack_reasons.size(); ++reason) {
    if (c.nack_reasons[reason] == 0) continue;
    const std::string name(name_of(static_cast<NackReason>(reason)));
    add("nacks_" + (name == "unknown" ? fmt::format("{:#04x}", reason) : name), "  " + name,
        c.nack_reasons[reason]);
  }
  add("probes", "probes", c.probes);
  add("probe_answers", "answers to probes", c.probe_answers);
  add("port_updates", "port status updates", c.port_updates);
  add("dropped", "answers and probes lost", c.dropped_control);
  table.brief = c.sacks + c.acks + c.nacks + c.probes > 0 || traffic.roce.frames == 0;
  return table;
}

}  // namespace mrclab::lab
