// Sections about losses, retransmissions, path changes, faults and places.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "fabric/packet/drop_kind.h"
#include "recorded/traffic/traffic_names.h"
#include "recorded/traffic/traffic_tables.h"

namespace mrclab::lab {
namespace {

using analysis::EvChange;
using analysis::Traffic;
using Json = nlohmann::ordered_json;

std::string roce_loss_text(analysis::RoceLossSign sign) {
  switch (sign) {
    case analysis::RoceLossSign::kOvertaken: return "between the two places";
    case analysis::RoceLossSign::kSkipped: return "before the place of the capture";
    case analysis::RoceLossSign::kNak: return "behind it, by a NAK";
    case analysis::RoceLossSign::kTimer: return "behind it, by a timer";
    case analysis::RoceLossSign::kGap: return "gaps of datagrams: before the place, or past it";
    case analysis::RoceLossSign::kDropRecord: break;
  }
  return "by a record";
}

Json time_ns(FabricTime t) { return static_cast<double>(t.ps()) * 1e-3; }

}  // namespace

TrafficTable losses_table(const Traffic& traffic, const TrafficContext&) {
  TrafficTable table{"losses",
                     "Frames dropped, trimmed and marked, by place",
                     {{"what", "what"}, {"place", "place"}, {"frames", "frames"}},
                     {},
                     {"trimmed, marked: at the first place of the captured ones that shows it"},
                     true};
  const auto& c = traffic.counters;
  const TrafficTotals totals = totals_of(traffic);
  table.without_rows = no_rows_of_mrc(
      traffic, totals.losses_known > 0
                   ? "none"
                   : "not known: nothing in the captures shows what became of packets");
  const auto add = [&table](std::string what, std::string place, uint64_t frames) {
    if (frames > 0) table.rows.push_back({std::move(what), std::move(place), frames});
  };
  for (size_t cause = 0; cause < c.drops.size(); ++cause) {
    add(std::string(name_of(static_cast<DropCause>(cause))), "all", c.drops[cause]);
  }
  for (size_t cause = 0; cause < c.roce_drops.size(); ++cause) {
    add(fmt::format("RoCE: {}", name_of(static_cast<DropCause>(cause))), "all",
        c.roce_drops[cause]);
  }
  add("trimmed", "before the last hop, by DSCP", c.trimmed_inside);
  add("trimmed", "at the last hop, by DSCP", c.trimmed_last_hop);
  const auto add_places = [&](const char* what, uint64_t analysis::CapturePoint::*frames) {
    std::vector<const analysis::CapturePoint*> points;
    for (const analysis::CapturePoint& point : traffic.points) points.push_back(&point);
    std::stable_sort(points.begin(), points.end(),
                     [&](const auto* a, const auto* b) { return a->*frames > b->*frames; });
    for (const analysis::CapturePoint* point : points) add(what, point->name, point->*frames);
  };
  add_places("dropped", &analysis::CapturePoint::dropped);
  add_places("trimmed", &analysis::CapturePoint::first_trimmed);
  add_places("marked (CE)", &analysis::CapturePoint::first_marked);
  uint64_t named = 0;
  for (size_t cause = 0; cause < c.drops.size(); ++cause) {
    const bool lost = drop_kind(static_cast<DropCause>(cause)) != DropKind::kRefused;
    named += lost ? c.drops[cause] : 0;
  }
  named -= std::min(named, c.dropped_control);
  if (totals.lost > named) add("never arrived", "no record of the place", totals.lost - named);
  std::map<std::string, uint64_t> roce;
  for (const analysis::RoceLoss& loss : traffic.roce.losses) {
    if (loss.sign == analysis::RoceLossSign::kDropRecord) continue;  // counted above, by cause
    roce[roce_loss_text(loss.sign)] += loss.count;
  }
  for (const auto& [what, packets] : roce) {
    add("RoCE: lost", what, packets);
  }
  if (table.rows.empty() && any_data_of_roce(traffic)) table.without_rows = "none";
  if (!roce.empty()) table.notes.emplace_back("which PSNs, and when: --section lost_psns");
  return table;
}

TrafficTable resent_table(const Traffic& traffic, const TrafficContext&) {
  const TrafficTotals t = totals_of(traffic);
  TrafficTable table{"retransmissions",
                     "Retransmissions, and whether they were needed",
                     {{"what", "what"}, {"packets", "packets"}, {"share", "share", Shown::kShare}},
                     {},
                     {},
                     true};
  table.without_rows = no_rows_of_mrc(traffic);
  const auto add = [&](const char* what, uint64_t count) {
    const Json part =
        t.resent == 0 ? Json() : Json(static_cast<double>(count) / static_cast<double>(t.resent));
    if (count > 0) table.rows.push_back({what, count, part});
  };
  add("needed: no earlier attempt arrived", t.needed);
  add("needless: it had arrived already", t.needless_there);
  add("needless: it was still on its way", t.needless_underway);
  analysis::RoceFlow roce;
  for (const analysis::RoceFlow& f : traffic.roce.flows) {
    roce.resent += f.resent;
    roce.needed += f.needed;
    roce.gone_back += f.gone_back;
    roce.needless += f.needless;
  }
  const auto add_roce = [&](const char* what, uint64_t count) {
    if (count == 0) return;
    table.rows.push_back(
        {what, count, static_cast<double>(count) / static_cast<double>(roce.resent)});
  };
  add_roce("RoCE: needed, as none had arrived", roce.needed);
  add_roce("RoCE: went back, as it had arrived behind a gap", roce.gone_back);
  add_roce("RoCE: needless, as it had been taken", roce.needless);
  add_roce("RoCE: not known",
           roce.resent - std::min(roce.resent, roce.needed + roce.gone_back + roce.needless));
  if (table.rows.empty() && any_data_of_roce(traffic)) table.without_rows = "none";
  add("not known",
      t.resent - std::min(t.resent, t.needed + t.needless_there + t.needless_underway));
  return table;
}

TrafficTable evs_table(const Traffic& traffic, const TrafficContext& context) {
  TrafficTable table{"evs",
                     "Paths that flows left and used again, as their packets show",
                     {{"t_ns", "at", Shown::kNanoseconds},
                      {"flow", "flow"},
                      {"path", "path"},
                      {"change", "change"},
                      {"probed", "probed"}},
                     {},
                     {},
                     false};
  table.without_rows = no_rows_of_mrc(traffic);
  for (const EvChange& change : traffic.changes) {
    const auto& flow = traffic.flows[change.flow];
    table.rows.push_back({time_ns(change.t - traffic.origin),
                          flow_name(context.topology, traffic.conversations[flow.conversation]),
                          path_name(traffic, change.ev), change.back ? "back" : "left",
                          change.back ? Json(change.probed) : Json()});
  }
  return table;
}

/// What flows did from the start of each fault to its end (or the next fault's start).
TrafficTable faults_table(const Traffic& traffic, const TrafficContext& context) {
  TrafficTable table{"faults",
                     "Faults, and what flows did about them",
                     {{"fault", "fault"},
                      {"at_ns", "at", Shown::kNanoseconds},
                      {"healed_ns", "healed", Shown::kNanoseconds},
                      {"first_left_ns", "noticed", Shown::kNanoseconds},
                      {"moved_ns", "moved", Shown::kNanoseconds},
                      {"left", "left"},
                      {"first_back_ns", "", Shown::kNanoseconds},
                      {"last_back_ns", "back by", Shown::kNanoseconds},
                      {"back", "back"}},
                     {},
                     {},
                     true};
  if (context.faults.empty()) {
    if (!context.faults_known) {
      table.without_rows = "unknown";
      table.notes.emplace_back("known of a run only: mrclab analyze RUN");
    }
    return table;
  }
  table.notes.emplace_back(
      "noticed, moved: from its start, the first and the last of the flows' last first "
      "transmissions on a path that they then left; back: the first and the last path used "
      "again, before the next fault");
  for (const KnownFault& fault : context.faults) {
    FabricTime next = FabricTime::never();
    for (const KnownFault& other : context.faults) {
      if (other.at > fault.at) next = std::min(next, other.at);
    }
    const FabricTime healed = std::min(fault.healed_at.value_or(next), next);
    uint64_t left = 0, back = 0;
    Json first_left, last_left, first_back, last_back;
    for (const EvChange& change : traffic.changes) {
      if (change.t < fault.at || change.t >= next) continue;
      if (!change.back && change.t >= healed) continue;
      const Json after = time_ns(change.t - fault.at);
      Json& first = change.back ? first_back : first_left;
      if (first.is_null()) first = after;
      (change.back ? last_back : last_left) = after;
      ++(change.back ? back : left);
    }
    table.rows.push_back({fault.fault.substr(0, fault.fault.find(" at ")), time_ns(fault.at),
                          fault.healed_at ? time_ns(*fault.healed_at) : Json(), first_left,
                          last_left, left, first_back, last_back, back});
  }
  return table;
}

TrafficTable places_table(const Traffic& traffic, const TrafficContext&) {
  constexpr const char* kStageNames[] = {"host>T0", "T0>T1", "T1>T0", "T0>host", "unknown"};
  TrafficTable table{
      "places",
      "Where frames were seen, and which part of the data had been ECN-marked by then",
      {{"place", "place"},
       {"records", "records"},
       {"data", "data"},
       {"marked_share", "CE", Shown::kShare},
       {"trimmed", "trimmed"},
       {"dropped", "dropped"},
       {"stages", "stages"},
       {"first_ns", "first", Shown::kNanoseconds},
       {"last_ns", "last", Shown::kNanoseconds}},
      {},
      {},
      false};
  table.without_rows = no_rows_of_mrc(traffic, "none");
  for (const analysis::CapturePoint& p : traffic.points) {
    if (p.records == 0) continue;
    std::string stages;
    for (size_t i = 0; i < p.at_stage.size(); ++i) {
      if (p.at_stage[i] > 0) stages += (stages.empty() ? "" : " ") + std::string(kStageNames[i]);
    }
    table.rows.push_back(
        {p.name, p.records, p.data,
         p.data == 0 ? Json() : Json(static_cast<double>(p.marked) / static_cast<double>(p.data)),
         p.trimmed, p.dropped, stages, time_ns(p.first - traffic.origin),
         time_ns(p.last - traffic.origin)});
  }
  return table;
}

TrafficTable goodput_table(const Traffic& traffic, const TrafficContext&) {
  TrafficTable table{"goodput",
                     "Goodput over time",
                     {{"from_ns", "from", Shown::kNanoseconds}, {"all_bps", "all", Shown::kRate}},
                     {},
                     {},
                     false};
  std::vector<size_t> planes;
  for (size_t plane = 0; plane < traffic.bins.bytes.size(); ++plane) {
    const auto& row = traffic.bins.bytes[plane];
    if (std::all_of(row.begin(), row.end(), [](uint64_t b) { return b == 0; })) continue;
    planes.push_back(plane);
    const std::string name = plane_name(static_cast<uint32_t>(plane));
    table.columns.push_back({(name == "?" ? "unknown" : name) + "_bps", "", Shown::kRate});
  }
  const double seconds = static_cast<double>(traffic.bins.width.ps()) * 1e-12;
  table.without_rows = no_rows_of_mrc(traffic, "not known: no arrival of data was captured");
  size_t bins = 0;
  for (const size_t plane : planes) {
    for (size_t i = bins; i < analysis::PlaneBins::kBins; ++i) {
      if (traffic.bins.bytes[plane][i] > 0) bins = i + 1;
    }
  }
  for (size_t i = 0; i < bins; ++i) {
    uint64_t all = 0;
    for (const size_t plane : planes) all += traffic.bins.bytes[plane][i];
    const auto rate = [seconds](uint64_t bytes) {
      return static_cast<double>(bytes) * 8 / seconds;
    };
    table.rows.push_back({time_ns(traffic.bins.width * static_cast<int64_t>(i)), rate(all)});
    for (const size_t plane : planes)
      table.rows.back().push_back(rate(traffic.bins.bytes[plane][i]));
  }
  return table;
}

}  // namespace mrclab::lab
