// The tables of traffic: what is in which column. How tables look is traffic_text.cc.

#include "recorded/traffic/traffic_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "fabric/text/counted_noun.h"
#include "recorded/traffic/traffic_names.h"
#include "recorded/traffic/traffic_tables.h"

namespace mrclab::lab {
namespace {

using analysis::FlowPath;
using analysis::Traffic;
using analysis::TrafficFlow;
using Json = nlohmann::ordered_json;

constexpr double kNsPerPs = 1e-3;

double ns(FabricTime t) { return static_cast<double>(t.ps()) * kNsPerPs; }

Json part_of(uint64_t part, uint64_t whole) {
  if (whole == 0) return nullptr;
  return static_cast<double>(part) / static_cast<double>(whole);
}

Json rate(uint64_t bytes, FabricTime from, FabricTime until) {
  if (until <= from || from == FabricTime::never()) return nullptr;
  return static_cast<double>(bytes) * 8e12 / static_cast<double>((until - from).ps());
}

Json quantile_ns(const analysis::LogHistogram& h, double q) {
  if (h.count() == 0) return nullptr;
  return static_cast<double>(h.quantile(q));
}

std::string fates_by(const TrafficTotals& t) {
  if (t.by_arrivals > 0 && t.by_answers > 0) return "arrivals, and answers of other flows";
  if (t.by_arrivals > 0) return "arrivals";
  if (t.by_answers > 0) return "answers: the sender's view";
  return t.lost + t.trimmed > 0 ? "records of drops" : "nothing: no arrivals and no answers";
}

}  // namespace

TrafficTotals totals_of(const Traffic& traffic) {
  TrafficTotals t;
  for (const TrafficFlow& f : traffic.flows) {
    t.flows += f.packets + f.resent + f.delivered > 0 ? 1 : 0;
    t.packets += f.packets;
    t.resent += f.resent;
    t.delivered += f.delivered;
    t.delivered_bytes += f.delivered_bytes;
    t.duplicates += f.duplicates;
    t.trimmed += f.trimmed;
    t.lost += f.lost;
    t.open += f.open;
    t.needed += f.needed;
    t.needless_there += f.needless_there;
    t.needless_underway += f.needless_underway;
    t.need_unknown += f.need_unknown;
    t.reordered += f.reordered;
    t.acknowledged += f.acknowledged;
    t.by_arrivals += f.by_arrivals ? 1 : 0;
    t.by_answers += f.by_answers ? 1 : 0;
    // Packets that were seen only behind the last switch show no losses before it.
    constexpr uint8_t kLastHop = analysis::wires_behind(analysis::Stage::kHostDown) * 2;
    const bool upstream = traffic.conversations[f.conversation].data.sent < kLastHop;
    t.losses_known += f.by_answers || (f.by_arrivals && upstream) ? 1 : 0;
  }
  for (const FlowPath& p : traffic.paths) t.lost_too_late += p.lost_too_late;
  return t;
}

namespace {

/// Where the packets and the arrivals of the flows were counted, with the flows of each place if
/// there are several.
struct CountedAt {
  std::string sent, arrived;
};

CountedAt counted_at(const Traffic& traffic) {
  std::map<std::string, uint64_t> sent_at, arrived_at;
  for (const TrafficFlow& f : traffic.flows) {
    if (f.packets + f.resent + f.delivered == 0) continue;
    const auto& vantage = traffic.conversations[f.conversation].data;
    ++sent_at[sent_place(vantage.sent)];
    ++arrived_at[arrived_place(vantage.arrived)];
  }
  const auto said = [](const std::map<std::string, uint64_t>& places) {
    std::string text;
    for (const auto& [place, flows] : places) {
      text +=
          fmt::format("{}{}{}", text.empty() ? "" : "; ", place,
                      places.size() > 1 ? fmt::format(" ({})", counted_noun(flows, "flow")) : "");
    }
    return text;
  };
  return {said(sent_at), said(arrived_at)};
}

/// The notes of the caller and of the analysis, and the records that the numbers do not cover.
std::vector<std::string> summary_notes(const Traffic& traffic, const TrafficContext& context) {
  std::vector<std::string> notes = context.notes;
  notes.insert(notes.end(), traffic.notes.begin(), traffic.notes.end());
  const auto& c = traffic.counters;
  const auto note = [&notes](uint64_t count, const Noun& what) {
    if (count > 0) notes.push_back(counted_noun(count, what));
  };
  uint64_t unplaced = 0;
  for (const analysis::CapturedWay& way : traffic.format.places.ways()) {
    if (way.place.reason == analysis::PlaceReason::kNothing) unplaced += way.data + way.control;
  }
  note(unplaced,
       {"packet was captured at an unknown place: it counts as sent, see --captured-at",
        "packets were captured at an unknown place: they count as sent, see --captured-at"});
  note(c.passing, {"record shows a frame that is counted at another point",
                   "records show frames that are counted at another point"});
  note(c.repeats, {"record is in more than one of the files, and counts once",
                   "records are in more than one of the files, and count once"});
  note(c.copies, {"record is of a frame that was seen there already",
                  "records are of a frame that was seen there already"});
  note(c.unmatched, {"arrival was never seen to leave", "arrivals were never seen to leave"});
  note(c.not_mrc, {"record is no MRC", "records are no MRC"});
  if (c.roce > 0) notes.push_back(roce_note(traffic));
  note(c.other_opcodes,
       {"record to RoCEv2's port has a vendor's or a reserved opcode: --section opcodes",
        "records to RoCEv2's port have a vendor's or a reserved opcode: --section opcodes"});
  note(c.malformed, {"MRC record contradicts itself", "MRC records contradict themselves"});
  note(c.bad_roce, {"record of RoCEv2 contradicts itself or ends before its headers do",
                    "records of RoCEv2 contradict themselves or end before their headers do"});
  note(c.pauses,
       {"record is a pause frame: --section pauses", "records are pause frames: --section pauses"});
  for (size_t layer = 0; layer < c.layers.size(); ++layer) {
    if (c.layers[layer] == 0) continue;
    notes.push_back(fmt::format("{} read through {}",
                                counted_noun(c.layers[layer], {"record was", "records were"}),
                                name_of(static_cast<Layer>(layer))));
  }
  note(c.encrypted, {"record is encrypted (IPsec or MACsec): what is inside is not seen",
                     "records are encrypted (IPsec or MACsec): what is inside is not seen"});
  note(c.fragments, {"record is a fragment of IP: what it belongs to is not seen",
                     "records are fragments of IP: what they belong to is not seen"});
  note(c.too_deep,
       {"record has more headers than are read", "records have more headers than are read"});
  note(c.checksum_open,
       {"record has no IPv4 checksum, as its sender's NIC was to compute it: read as it stands",
        "records have no IPv4 checksum, as their sender's NIC was to compute it: read as they "
        "stand"});
  note(c.checksum_wrong,
       {"record has a wrong IPv4 checksum, which a receiver would drop: read as it stands",
        "records have a wrong IPv4 checksum, which a receiver would drop: read as they stand"});
  note(c.damaged, {"record has a wrong IPv4 checksum: damaged on a wire, and not read",
                   "records have a wrong IPv4 checksum: damaged on a wire, and not read"});
  note(c.cut_short,
       {"record was cut before its headers end: capture 192 bytes of a frame, or all",
        "records were cut before their headers end: capture 192 bytes of a frame, or all"});
  note(c.untimed, {"record has no trailer, so no time", "records have no trailer, so no time"});
  note(c.skipped, {"record could not be read", "records could not be read"});
  note(c.out_of_order, {"record lay too far from its place in time",
                        "records lay too far from their place in time"});
  note(c.behind + c.over_limit, {"record fell out of bounds and is not counted",
                                 "records fell out of bounds and are not counted"});
  note(c.answers_unmatched,
       {"SACK or NACK answers no packet of the capture: --section matches has the reasons",
        "SACKs and NACKs answer no packet of the capture: --section matches has the reasons"});
  note(c.rtx_bit_wrong,
       {"retransmission is not marked as one", "retransmissions are not marked as such"});
  if (traffic.changes_cut) notes.emplace_back("the list of path changes is cut");
  return notes;
}

}  // namespace

TrafficTable summary_table(const Traffic& traffic, const TrafficContext& context) {
  const TrafficTotals t = totals_of(traffic);
  const bool any = traffic.last >= traffic.first && traffic.first != FabricTime::never();
  const auto& c = traffic.counters;
  TrafficTable table{"summary", "", {}, {{}}, {}, true};
  const auto add = [&table](const char* key, const char* heading, Json value,
                            Shown shown = Shown::kPlain) {
    table.columns.push_back({key, heading, shown});
    table.rows[0].push_back(std::move(value));
  };
  // Of a capture of RoCE alone a zero would be a claim about packets that nobody looked at.
  const bool looked = t.flows > 0 || c.roce == 0;
  const auto of_mrc = [looked](Json value) { return looked ? std::move(value) : Json(); };
  const bool arrivals = t.delivered > 0;
  // Where nothing shows what became of packets, "0 lost" would be a claim.
  const bool fates = t.by_arrivals + t.by_answers + t.lost + t.trimmed > 0;
  const bool losses = t.losses_known + t.lost > 0;
  add("records", "records", c.records);
  add("frame_bytes", "bytes of their frames", c.bytes);
  add("from_ns", "from", any ? Json(ns(traffic.first - traffic.origin)) : Json(),
      Shown::kNanoseconds);
  add("until_ns", "until", any ? Json(ns(traffic.last - traffic.origin)) : Json(),
      Shown::kNanoseconds);
  add("time", "time", traffic.carried ? "carried by the frames" : "of the capture");
  std::set<Ipv6Address> hosts;
  for (const TrafficFlow& f : traffic.flows) {
    hosts.insert(traffic.conversations[f.conversation].source);
    hosts.insert(traffic.conversations[f.conversation].destination);
  }
  add("hosts", "hosts", of_mrc(hosts.size()));
  add("flows", "flows", of_mrc(t.flows));
  add("packets", "packets", of_mrc(t.packets));
  add("delivered", "delivered", arrivals ? Json(t.delivered) : Json());
  add("goodput_bps", "goodput",
      arrivals ? rate(t.delivered_bytes, traffic.first, traffic.last) : Json(), Shown::kRate);
  add("delivered_bytes", "bytes delivered", arrivals ? Json(t.delivered_bytes) : Json());
  if (t.acknowledged > 0) add("acknowledged", "acknowledged", t.acknowledged);
  add("lost", "lost", losses ? Json(t.lost) : Json());
  add("lost_share", "lost, share", losses ? part_of(t.lost, t.packets + t.resent) : Json(),
      Shown::kShare);
  add("trimmed", "trimmed", fates ? Json(t.trimmed) : Json());
  add("resent", "retransmitted", of_mrc(t.resent));
  add("needless", "  of these needless",
      arrivals || t.by_answers > 0 ? Json(t.needless_there + t.needless_underway) : Json());
  add("duplicates", "arrived twice", arrivals ? Json(t.duplicates) : Json());
  add("open", losses ? "not seen again by the end" : "fate not seen", of_mrc(t.open));
  add("fates_by", "fates known by", of_mrc(fates_by(t)));
  add("lost_too_late", "lost too late",
      traffic.rtt_ns.count() > 0 ? Json(t.lost_too_late) : Json());
  add("reordered_share", "reordered", part_of(t.reordered, t.delivered), Shown::kShare);
  uint64_t left = 0, back = 0, probed = 0;
  for (const analysis::EvChange& change : traffic.changes) {
    ++(change.back ? back : left);
    probed += change.back && change.probed ? 1 : 0;
  }
  add("paths_left", "paths left", of_mrc(left));
  add("paths_back", "  used again", of_mrc(back));
  add("paths_back_probed", "  of these after an answered probe", of_mrc(probed));
  add("rtt_p50_ns", "RTT, median", quantile_ns(traffic.rtt_ns, 0.5), Shown::kNanoseconds);
  add("rtt_p99_ns", "RTT, 99 %", quantile_ns(traffic.rtt_ns, 0.99), Shown::kNanoseconds);
  const CountedAt counted = counted_at(traffic);
  add("sent_counted", "packets counted", of_mrc(counted.sent));
  add("delivered_counted", "arrivals counted", of_mrc(counted.arrived));
  add_roce_summary(traffic, table);
  table.notes = summary_notes(traffic, context);
  return table;
}

TrafficTable flows_table(const Traffic& traffic, const TrafficContext& context) {
  TrafficTable table{"flows",
                     "Flows, by bytes delivered",
                     {{"flow", "flow"},
                      {"source", "", Shown::kPlain},
                      {"destination", "", Shown::kPlain},
                      {"qp", "", Shown::kPlain},
                      {"packets", "packets"},
                      {"delivered", "", Shown::kPlain},
                      {"delivered_bytes", "", Shown::kPlain},
                      {"goodput_bps", "goodput", Shown::kRate},
                      {"paths", "", Shown::kPlain},
                      {"resent", "resent"},
                      {"needless", "needless"},
                      {"lost", "lost"},
                      {"trimmed", "trimmed"},
                      {"duplicates", "", Shown::kPlain},
                      {"open", "", Shown::kPlain},
                      {"reordered_share", "", Shown::kShare},
                      {"max_distance", "", Shown::kPlain},
                      {"rtt_mean_ns", "RTT", Shown::kNanoseconds},
                      {"rtt_min_ns", "", Shown::kNanoseconds},
                      {"rtt_max_ns", "", Shown::kNanoseconds},
                      {"sacks", "", Shown::kPlain},
                      {"nacks", "", Shown::kPlain},
                      {"acks", "", Shown::kPlain},
                      {"probes", "", Shown::kPlain}},
                     {},
                     {},
                     true};
  std::vector<const TrafficFlow*> flows;
  for (const TrafficFlow& f : traffic.flows) {
    if (f.packets + f.resent + f.delivered > 0) flows.push_back(&f);
  }
  std::stable_sort(flows.begin(), flows.end(), [](const TrafficFlow* a, const TrafficFlow* b) {
    return a->delivered_bytes > b->delivered_bytes;
  });
  table.without_rows = no_rows_of_mrc(traffic);
  add_roce_flows(traffic, context, table);
  for (const TrafficFlow* f : flows) {
    const auto& c = traffic.conversations[f->conversation];
    const double rtts = static_cast<double>(std::max<uint64_t>(f->rtts, 1));
    const auto rtt = [&](int64_t ps, double over = 1) {
      return f->rtts == 0 ? Json() : Json(static_cast<double>(ps) * kNsPerPs / over);
    };
    table.rows.push_back({flow_name(context.topology, c),
                          host_name(context.topology, c.source),
                          host_name(context.topology, c.destination),
                          c.qp.value,
                          f->packets,
                          f->delivered,
                          f->delivered_bytes,
                          rate(f->delivered_bytes, f->first_seen, f->last_delivered),
                          f->paths,
                          f->resent,
                          f->needless_there + f->needless_underway,
                          f->lost,
                          f->trimmed,
                          f->duplicates,
                          f->open,
                          part_of(f->reordered, f->delivered),
                          f->max_distance,
                          rtt(f->rtt_sum_ps, rtts),
                          rtt(f->rtt_min_ps),
                          rtt(f->rtt_max_ps),
                          f->sacks,
                          f->nacks,
                          f->acks,
                          f->probes});
  }
  return table;
}

TrafficTable planes_table(const Traffic& traffic) {
  TrafficTable table{"planes",
                     "Planes",
                     {{"plane", "plane"},
                      {"packets", "packets"},
                      {"share", "", Shown::kShare},
                      {"delivered_bytes", "", Shown::kPlain},
                      {"goodput_bps", "goodput", Shown::kRate},
                      {"resent", "resent"},
                      {"lost", "lost"},
                      {"trimmed", "trimmed"},
                      {"marked_share", "CE", Shown::kShare},
                      {"rtt_p50_ns", "RTT", Shown::kNanoseconds},
                      {"rtt_p99_ns", "", Shown::kNanoseconds},
                      {"longest_gap_ns", "gap", Shown::kNanoseconds},
                      {"gap_from_ns", "at", Shown::kNanoseconds}},
                     {},
                     {},
                     true};
  table.without_rows = no_rows_of_mrc(traffic);
  const TrafficTotals t = totals_of(traffic);
  for (uint32_t plane = 0; plane < traffic.planes.size(); ++plane) {
    const analysis::PlaneTraffic& p = traffic.planes[plane];
    if (p.packets + p.resent + p.delivered + p.lost == 0) continue;
    const bool arrivals = p.delivered > 0;
    table.rows.push_back(
        {plane_name(plane), p.packets, part_of(p.packets, t.packets), p.delivered_bytes,
         arrivals ? rate(p.delivered_bytes, traffic.first, traffic.last) : Json(), p.resent, p.lost,
         p.trimmed, part_of(p.marked, p.delivered + p.trimmed), quantile_ns(p.rtt_ns, 0.5),
         quantile_ns(p.rtt_ns, 0.99), arrivals ? Json(ns(p.longest_gap)) : Json(),
         arrivals ? Json(ns(p.gap_from - traffic.origin)) : Json()});
  }
  return table;
}

std::vector<TrafficTable> traffic_tables(const Traffic& traffic, const TrafficContext& context) {
  return {summary_table(traffic, context),
          formats_table(traffic, context),
          vantage_table(traffic, context),
          flows_table(traffic, context),
          planes_table(traffic),
          spray_table(traffic, context),
          paths_table(traffic, context),
          order_table(traffic, context),
          delays_table(traffic, context),
          answers_table(traffic, context),
          opcodes_table(traffic, context),
          queue_pairs_table(traffic, context),
          rc_table(traffic, context),
          go_backs_table(traffic, context),
          lost_psns_table(traffic, context),
          rates_table(traffic, context),
          matches_table(traffic, context),
          losses_table(traffic, context),
          resent_table(traffic, context),
          windows_table(traffic, context),
          window_cuts_table(traffic, context),
          window_records_table(traffic, context),
          faults_table(traffic, context),
          pauses_table(traffic, context),
          pause_frames_table(traffic, context),
          evs_table(traffic, context),
          places_table(traffic, context),
          goodput_table(traffic, context)};
}

std::vector<std::string> traffic_sections() {
  std::vector<std::string> names;
  for (const TrafficTable& table : traffic_tables({}, {})) names.push_back(table.name);
  return names;
}

}  // namespace mrclab::lab
