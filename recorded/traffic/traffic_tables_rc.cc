// The sections about RoCEv2 alone: queue pairs, how flows of RC went back and why, rates and CNPs.

#include <fmt/format.h>

#include <algorithm>

#include "fabric/text/counted_noun.h"
#include "recorded/traffic/traffic_names.h"
#include "recorded/traffic/traffic_tables.h"

namespace mrclab::lab {

namespace {

using analysis::RoceCause;
using analysis::RoceFlow;
using analysis::Traffic;
using Json = nlohmann::ordered_json;

constexpr std::array<const char*, analysis::kRoceCauses> kCauseKeys{"nak", "not_ready", "timeout"};
constexpr std::array<const char*, analysis::kRoceCauses> kCauses{"NAK", "receiver not ready",
                                                                 "timer"};

Json ns_of(FabricTime t) { return static_cast<double>(t.ps()) * 1e-3; }

/// What stands for no rows where the captures have no RoCEv2.
std::string no_roce(const Traffic& traffic, std::string none) {
  return traffic.roce.frames == 0 ? "no record is of RoCEv2" : none;
}

bool reliable(const RoceFlow& f) {
  return f.transport == IbtaTransport::kRc || f.transport == IbtaTransport::kXrc;
}

Json qp_text(const std::optional<Qpn>& qp) {
  return qp ? Json(fmt::format("{:#x}", qp->value)) : Json();
}

}  // namespace

std::string roce_flow_name(const Topology* topology, const RoceFlow& f) {
  return fmt::format("{}>{} {:#x}", host_name(topology, f.source),
                     host_name(topology, f.destination), f.qp.value);
}

TrafficTable queue_pairs_table(const Traffic& traffic, const TrafficContext& context) {
  TrafficTable table{"queue_pairs",
                     "Queue pairs of RoCEv2, by who sends to whom",
                     {{"host", "host"},
                      {"qp", "QP"},
                      {"to", "to"},
                      {"to_qp", "QP"},
                      {"transport", "is"},
                      {"known_by", "known by"},
                      {"sent", "sent"},
                      {"psn_gaps", "gaps"},
                      {"first_ns", "from", Shown::kNanoseconds},
                      {"last_ns", "until", Shown::kNanoseconds}},
                     {},
                     {},
                     traffic.roce.frames > 0};
  table.without_rows = no_roce(traffic, "none");
  for (const RoceFlow& f : traffic.roce.flows) {
    const bool datagrams = f.transport == IbtaTransport::kUd;
    const char* const known = f.by_cm       ? "connection manager"
                              : datagrams   ? "its datagrams"
                              : f.source_qp ? "PSNs of answers"
                                            : "its packets alone";
    const bool seen = f.first != FabricTime::never();
    table.rows.push_back({host_name(context.topology, f.source), qp_text(f.source_qp),
                          host_name(context.topology, f.destination), qp_text(f.qp),
                          name_of(f.transport), known, f.packets + f.resent,
                          datagrams && f.source_qp ? Json(f.gaps) : Json(),
                          seen ? ns_of(f.first - traffic.origin) : Json(),
                          seen ? ns_of(f.last - traffic.origin) : Json()});
  }
  const bool gaps = std::any_of(traffic.roce.flows.begin(), traffic.roce.flows.end(),
                                [](const RoceFlow& f) { return f.gaps > 0; });
  if (gaps) {
    table.notes.emplace_back(
        "gaps: PSNs of the sending queue pair that no datagram has here, in front of those that came: lost before this "
        "place, or sent past it (--section lost_psns)");
  }
  std::string cm;
  for (const auto& [name, count] : traffic.roce.cm)
    cm += fmt::format("{}{} {}", cm.empty() ? "" : ", ", name, count);
  if (!cm.empty()) table.notes.push_back("messages of the connection manager: " + cm);
  if (traffic.roce.answers_unmatched > 0) {
    table.notes.push_back(counted_noun(
        traffic.roce.answers_unmatched,
        {"answer belongs to no flow of the capture", "answers belong to no flow of the capture"}));
  }
  return table;
}

TrafficTable rc_table(const Traffic& traffic, const TrafficContext& context) {
  TrafficTable table{"rc",
                     "RC over RoCEv2: what its flows retransmitted, and why",
                     {{"flow", "flow"}, {"packets", "packets"}},
                     {},
                     {},
                     false};
  for (size_t cause = 0; cause < analysis::kRoceCauses; ++cause) {
    table.columns.push_back({fmt::format("rounds_by_{}", kCauseKeys[cause]),
                             fmt::format("by {}", cause == 1 ? "RNR" : kCauses[cause])});
    table.columns.push_back({fmt::format("resent_by_{}", kCauseKeys[cause]), "resent"});
  }
  for (const ReportColumn& column :
       std::initializer_list<ReportColumn>{{"naks", "NAKs"},
                                           {"not_ready", "RNRs"},
                                           {"cnps", "CNPs"},
                                           {"gone_back", "went back"},
                                           {"needless", "needless"},
                                           {"needed", ""},
                                           {"lost", ""},
                                           {"acks", ""},
                                           {"refusals", ""},
                                           {"marked", ""},
                                           {"reads", ""},
                                           {"read_responses", ""},
                                           {"read_bytes", ""},
                                           {"atomics", ""},
                                           {"reordered", ""},
                                           {"longest_timer_wait_ns", "", Shown::kNanoseconds},
                                           {"both_ends", ""}}) {
    table.columns.push_back(column);
  }
  for (const RoceFlow& f : traffic.roce.flows) {
    if (!reliable(f) || !f.is_data()) continue;
    std::vector<Json> row{roce_flow_name(context.topology, f), f.packets};
    for (size_t cause = 0; cause < analysis::kRoceCauses; ++cause) {
      row.emplace_back(f.rounds[cause]);
      row.emplace_back(f.resent_by[cause]);
    }
    const bool answered = f.peer != RoceFlow::kNone;
    const auto of_answers = [answered](uint64_t count) { return answered ? Json(count) : Json(); };
    for (Json value :
         {of_answers(f.naks), of_answers(f.not_ready), of_answers(f.cnps), Json(f.gone_back),
          Json(f.needless), Json(f.needed), Json(f.lost), of_answers(f.acks),
          of_answers(f.refusals), Json(f.marked), Json(f.reads), of_answers(f.responses),
          of_answers(f.response_bytes), Json(f.atomics), Json(f.reordered),
          f.longest_wait > FabricTime::zero() ? ns_of(f.longest_wait) : Json(),
          Json(f.both_ends)}) {
      row.push_back(std::move(value));
    }
    table.rows.push_back(std::move(row));
  }
  table.brief = !table.rows.empty();
  table.without_rows = no_roce(traffic, "no request of RC or XRC in the captures");
  if (table.rows.empty()) return table;
  table.notes.emplace_back(
      "by: how often a flow went back for that reason; resent: packets that it then retransmitted; "
      "went back: of these had arrived behind a gap, which go-back-N refuses; needless: had been "
      "taken already");
  if (context.rc.spread) {
    const std::string shared = flows_per_uplink(*context.rc.spread);
    if (!shared.empty()) table.notes.push_back(shared);
  }
  return table;
}

TrafficTable go_backs_table(const Traffic& traffic, const TrafficContext& context) {
  TrafficTable table{"go_backs",
                     "Each time that a flow of RC went back",
                     {{"t_ns", "at", Shown::kNanoseconds},
                      {"flow", "flow"},
                      {"psn", "PSN"},
                      {"cause", "by"},
                      {"packets", "packets"},
                      {"waited_ns", "after silence of", Shown::kNanoseconds}},
                     {},
                     {},
                     false};
  table.without_rows = no_roce(traffic, "none");
  for (const analysis::RoceRound& round : traffic.roce.rounds) {
    table.rows.push_back({ns_of(round.t - traffic.origin),
                          roce_flow_name(context.topology, traffic.roce.flows[round.flow]),
                          round.psn, kCauses[static_cast<size_t>(round.cause)], round.packets,
                          ns_of(round.waited)});
  }
  return table;
}

TrafficTable lost_psns_table(const Traffic& traffic, const TrafficContext& context) {
  TrafficTable table{"lost_psns",
                     "PSNs of RoCEv2 that were lost, and how that shows",
                     {{"t_ns", "at", Shown::kNanoseconds},
                      {"flow", "flow"},
                      {"psn", "PSN"},
                      {"packets", "packets"},
                      {"sign", "shown by"}},
                     {},
                     {},
                     false};
  table.without_rows = no_roce(traffic, "none");
  const auto sign = [](const analysis::RoceLoss& loss) -> std::string {
    switch (loss.sign) {
      case analysis::RoceLossSign::kOvertaken: return "sent and never arrived";
      case analysis::RoceLossSign::kSkipped: return "skipped: lost before this place";
      case analysis::RoceLossSign::kNak: return "a NAK";
      case analysis::RoceLossSign::kTimer: return "retransmitted by the timer";
      case analysis::RoceLossSign::kGap: return "gap of datagrams: lost before, or went past";
      case analysis::RoceLossSign::kDropRecord: return std::string(name_of(loss.cause));
    }
    return "";
  };
  for (const analysis::RoceLoss& loss : traffic.roce.losses) {
    table.rows.push_back({ns_of(loss.t - traffic.origin),
                          roce_flow_name(context.topology, traffic.roce.flows[loss.flow]), loss.psn,
                          loss.count, sign(loss)});
  }
  if (traffic.roce.events_cut) table.notes.emplace_back("the list is cut");
  return table;
}

TrafficTable rates_table(const Traffic& traffic, const TrafficContext& context) {
  TrafficTable table{"rates",
                     "Rates of RoCEv2 over time, with the CNPs that asked for less",
                     {{"flow", "flow"},
                      {"from_ns", "from", Shown::kNanoseconds},
                      {"for_ns", "for", Shown::kNanoseconds},
                      {"rate_bps", "sent", Shown::kRate},
                      {"marked", "CE"},
                      {"cnps", "CNPs"}},
                     {},
                     {},
                     false};
  table.without_rows = no_roce(traffic, "no data in the captures");
  for (const RoceFlow& f : traffic.roce.flows) {
    if (!f.is_data()) continue;
    const double seconds = static_cast<double>(f.bins.width.ps()) * 1e-12;
    for (size_t i = 0; i < analysis::RoceBins::kBins; ++i) {
      if (f.bins.bytes[i] + f.bins.cnps[i] == 0) continue;
      const FabricTime from = f.bins.from + f.bins.width * static_cast<int64_t>(i);
      table.rows.push_back({roce_flow_name(context.topology, f), ns_of(from - traffic.origin),
                            ns_of(f.bins.width), static_cast<double>(f.bins.bytes[i]) * 8 / seconds,
                            f.bins.marked[i], f.bins.cnps[i]});
    }
  }
  return table;
}

}  // namespace mrclab::lab
