// Sections about foreign packets: what was learned of their format, where they were captured, which
// answers belong to which flow, and how sure that is.

#include <fmt/format.h>

#include <map>
#include <set>

#include "fabric/text/counted_noun.h"
#include "recorded/traffic/traffic_names.h"
#include "recorded/traffic/traffic_tables.h"

namespace mrclab::lab {
namespace {

using analysis::Known;
using analysis::LearnedFormat;
using analysis::MatchedBy;
using analysis::PathBy;
using analysis::PathFormat;
using analysis::PlaneBy;
using analysis::Traffic;
using Json = nlohmann::ordered_json;

constexpr size_t kMostBlocks = 8, kMostWays = 256;

const char* name_of(Known known) {
  switch (known) {
    case Known::kGiven: return "given";
    case Known::kSeen: return "seen";
    case Known::kAssumed: return "assumed";
  }
  return "";
}

std::string blocks_text(const LearnedFormat& format) {
  std::string text;
  for (size_t i = 0; i < format.blocks.size(); ++i) {
    if (i == kMostBlocks) return text + " ...";
    text += fmt::format("{}{}/{}", i == 0 ? "" : " ", to_string(format.blocks[i]),
                        format.carriers.block_bits);
  }
  return text;
}

std::string how_planes_are_known(const PathFormat& paths) {
  switch (paths.plane_by) {
    case PlaneBy::kNothing: return "nothing that varies is a plane's for certain: see --ev-format";
    case PlaneBy::kBlock: return "the block varies between packets of the same two hosts";
    case PlaneBy::kCarrier: return "a last uSID varies between packets of the same two hosts";
    case PlaneBy::kPort: return "hosts use several ports, distinguished by MAC or interface";
    case PlaneBy::kBits: return "given by --ev-format";
  }
  return "";
}

void add_carriers(TrafficTable& table, const LearnedFormat& format) {
  if (!format.carriers_seen) {
    table.rows.push_back({"carriers", "none", "seen", "no packet has an outer IPv6 header"});
    return;
  }
  const Known known = format.carriers.known;
  const char* why = known == Known::kSeen    ? "packets at two places, or zeros within a carrier"
                    : known == Known::kGiven ? "given by --block or --usid-length"
                                             : "no packet was seen at two places: F3216 (RFC 9800)";
  table.rows.push_back({"blocks", blocks_text(format), name_of(known), why});
  table.rows.push_back(
      {"uSID length", counted_noun(format.carriers.usid_bits, "bit"), name_of(known), why});
}

void add_paths(TrafficTable& table, const LearnedFormat& format) {
  const PathFormat& paths = format.paths;
  const bool by_carrier = paths.path_by == PathBy::kCarrier;
  const char* why = paths.path_known == Known::kGiven  ? "given by --ev-format"
                    : paths.path_known == Known::kSeen ? "it varies between packets of one flow"
                                                       : "nothing varies: one path, or none named";
  table.rows.push_back({"path", by_carrier ? "the carrier" : analysis::name_of(paths.reading),
                        name_of(paths.path_known), why});
  table.rows.push_back({"reflected", paths.reflected ? analysis::name_of(*paths.reflected) : "?",
                        paths.reflected ? "seen" : "not known",
                        paths.reflected
                            ? "values in answers are those of data"
                            : "answers reflect nothing that data has, or there are none"});
  const bool numbered = paths.plane_by == PlaneBy::kBits;
  std::string planes = "?";
  if (numbered) planes = "numbers";
  if (paths.classes > 0) {
    planes =
        fmt::format("{} classes, A to {}", paths.classes,
                    plane_name(analysis::kFirstClass + static_cast<uint32_t>(paths.classes) - 1));
  }
  const char* known = paths.plane_by == PlaneBy::kNothing ? "not known"
                      : numbered                          ? "given"
                                                          : "seen";
  table.rows.push_back({"planes", planes, known, how_planes_are_known(paths)});
}

const char* text_of(MatchedBy by) {
  switch (by) {
    case MatchedBy::kPsnAndEv: return "PSN and entropy value";
    case MatchedBy::kIds: return "spdcid and dpdcid";
    case MatchedBy::kTimestamp: return "PSN and timestamp";
    case MatchedBy::kPsn: return "PSNs";
    case MatchedBy::kOnlyFlow: return "only flow between them";
    case MatchedBy::kNothing: return "nothing";
  }
  return "";
}

const char* surety_of(MatchedBy by) {
  switch (by) {
    case MatchedBy::kPsn:
    case MatchedBy::kOnlyFlow: return "likely";
    case MatchedBy::kNothing: return "not known";
    case MatchedBy::kPsnAndEv:
    case MatchedBy::kIds:
    case MatchedBy::kTimestamp: return "certain";
  }
  return "";
}

}  // namespace

TrafficTable formats_table(const Traffic& traffic, const TrafficContext&) {
  const LearnedFormat& format = traffic.format;
  TrafficTable table{"formats",
                     "Format of packets that are not this lab's, learned from them",
                     {{"what", "what"}, {"value", "value"}, {"known", "known"}, {"why", ""}},
                     {},
                     {},
                     format.foreign};
  if (!format.foreign) {
    table.without_rows = no_rows_of_mrc(traffic, "none: all packets are this lab's");
    return table;
  }
  add_carriers(table, format);
  add_paths(table, format);
  for (const auto& row : table.rows) {
    table.notes.push_back(
        fmt::format("{}: {}", row[0].get<std::string>(), row[3].get<std::string>()));
  }
  table.notes.push_back(fmt::format("from {}{}", counted_noun(format.packets, "packet"),
                                    format.whole ? "" : ", the first of the capture"));
  return table;
}

TrafficTable vantage_table(const Traffic& traffic, const TrafficContext& context) {
  TrafficTable table{"vantage",
                     "Where packets that are not this lab's were captured",
                     {{"way", "place, from>to"},
                      {"place", ""},
                      {"from", ""},
                      {"to", ""},
                      {"packets", "packets"},
                      {"at", "at"},
                      {"known", "known"},
                      {"why", ""}},
                     {},
                     {},
                     traffic.format.foreign};
  table.without_rows = no_rows_of_mrc(traffic, "none: all packets are this lab's");
  std::set<std::string> reasons;
  for (const analysis::CapturedWay& way : traffic.format.places.ways()) {
    if (table.rows.size() >= kMostWays) {
      table.notes.emplace_back("and more");
      break;
    }
    const analysis::Stage stage = way.place.stage;
    const char* at = stage == analysis::Stage::kHostUp     ? "sender"
                     : stage == analysis::Stage::kHostDown ? "receiver"
                                                           : "switch";
    const bool unknown = way.place.reason == analysis::PlaceReason::kNothing;
    const char* why = analysis::reason_text(way.place.reason);
    reasons.insert(fmt::format("{}{}: {}", at, unknown ? "?" : "", why));
    const std::string place = tap_name(traffic, way.tap);
    const std::string from = host_name(context.topology, way.source);
    const std::string to = host_name(context.topology, way.destination);
    table.rows.push_back({fmt::format("{} {}>{}", place, from, to), place, from, to,
                          way.data + way.control, unknown ? Json() : Json(at),
                          unknown ? "not known" : name_of(way.place.known()), why});
  }
  table.notes.insert(table.notes.end(), reasons.begin(), reasons.end());
  return table;
}

TrafficTable matches_table(const Traffic& traffic, const TrafficContext& context) {
  TrafficTable table{"matches",
                     "Which flow the answers to a queue pair belong to, and how sure that is",
                     {{"answers", "from>to QP"},
                      {"from", ""},
                      {"to", ""},
                      {"qp", ""},
                      {"sacks", "SACKs"},
                      {"nacks", "NACKs"},
                      {"acks", "ACKs"},
                      {"flow", ""},
                      {"flow_qp", "flow's QP"},
                      {"by", "by"},
                      {"known", "known"},
                      {"candidates", ""}},
                     {},
                     {},
                     traffic.format.foreign};
  table.without_rows =
      no_rows_of_mrc(traffic, "none: the captures have no SACK, NACK or ACK of MRC");
  for (const analysis::AnswerGroup& group : traffic.answer_groups) {
    const auto& c = traffic.conversations[group.conversation];
    const bool found = group.flow < traffic.flows.size();
    const auto* answered =
        found ? &traffic.conversations[traffic.flows[group.flow].conversation] : nullptr;
    table.rows.push_back(
        {flow_name(context.topology, c), host_name(context.topology, c.source),
         host_name(context.topology, c.destination), c.qp.value, group.sacks, group.nacks,
         group.acks, found ? Json(flow_name(context.topology, *answered)) : Json(),
         found ? Json(fmt::format("{:#x}", answered->qp.value)) : Json(), text_of(group.by),
         surety_of(group.by), found ? Json() : Json(group.candidates)});
  }
  return table;
}

}  // namespace mrclab::lab
