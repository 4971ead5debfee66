// Records that no other section looks into: RoCEv2 by opcode, and pause frames; and the note of a section
// of MRC that has none of its own.

#include <fmt/format.h>

#include <map>

#include "fabric/packet/ibta_opcodes.h"
#include "fabric/text/counted_noun.h"
#include "recorded/traffic/traffic_tables.h"

namespace mrclab::lab {
namespace {

using analysis::Traffic;

/// "RC 20, UD 3": records of RoCEv2 by transport.
std::string transports_text(const analysis::TrafficCounters& c) {
  std::map<std::string_view, uint64_t> records;
  for (size_t value = 0; value < c.opcodes.size(); ++value) {
    const auto opcode = static_cast<uint8_t>(value);
    if (is_of_ibta(opcode)) records[name_of(ibta_opcode(opcode).transport)] += c.opcodes[value];
  }
  std::string text;
  for (const auto& [name, count] : records) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, count);
  }
  return text;
}

}  // namespace

nlohmann::ordered_json priority_text(uint8_t priority) {
  if (priority == analysis::kAllPriorities) return "all";
  return priority;
}

bool any_data_of_mrc(const Traffic& traffic) {
  for (const analysis::TrafficFlow& flow : traffic.flows) {
    if (flow.packets + flow.resent + flow.delivered > 0) return true;
  }
  return false;
}

bool any_data_of_roce(const Traffic& traffic) {
  for (const analysis::RoceFlow& flow : traffic.roce.flows) {
    if (flow.is_data() && (flow.both_ends || flow.peer != analysis::RoceFlow::kNone)) return true;
  }
  return false;
}

std::string roce_note(const Traffic& traffic) {
  return fmt::format("{} {} of RoCEv2 ({})", counted_noun(traffic.counters.roce, "record"),
                     traffic.counters.roce == 1 ? "is" : "are", transports_text(traffic.counters));
}

std::string no_rows_of_mrc(const Traffic& traffic, std::string_view none) {
  const analysis::TrafficCounters& c = traffic.counters;
  if (c.roce > 0 && !any_data_of_mrc(traffic)) {
    return fmt::format("this section is of MRC alone, and the captures have {} of RoCEv2",
                       counted_noun(c.roce, "record"));
  }
  if (!any_data_of_mrc(traffic)) {
    return c.data_frames + c.answer_frames + c.probe_frames > 0
               ? "not known: the captures have answers or probes of MRC, but none of its data"
               : "not known: the captures have no packet of MRC";
  }
  return std::string(none);
}

TrafficTable opcodes_table(const Traffic& traffic, const TrafficContext&) {
  TrafficTable table{"opcodes",
                     "Records to RoCEv2's ports, by opcode, as IBTA and MRC name them",
                     {{"opcode", ""},
                      {"transport", "transport"},
                      {"operation", "operation"},
                      {"records", "records"}},
                     {},
                     {},
                     traffic.counters.roce + traffic.counters.other_opcodes > 0};
  table.without_rows = traffic.counters.records > 0 ? "no record is to the UDP ports 4791 or 4971"
                                                    : "the captures have no records";
  const auto& records = traffic.counters.opcodes;
  for (size_t value = 0; value < records.size(); ++value) {
    if (records[value] == 0) continue;
    const auto opcode = static_cast<uint8_t>(value);
    const IbtaOpcode known = ibta_opcode(opcode);
    const std::string operation =
        known.operation.empty() ? fmt::format("{:#04x}", opcode) : std::string(known.operation);
    table.rows.push_back({opcode, name_of(known.transport), operation, records[value]});
  }
  if (!table.rows.empty()) {
    table.notes.emplace_back(
        "of all records, before --qp, --between and the like; repeats count again");
  }
  return table;
}

TrafficTable pause_frames_table(const Traffic& traffic, const TrafficContext&) {
  TrafficTable table{
      "pause_frames",
      "Pause frames (IEEE 802.1Qbb, and 802.3x for all) in the captures, by the port that asked",
      {{"asked_by", "asked by"},
       {"priority", "priority"},
       {"asks", "asks"},
       {"ends", "ends"},
       {"most_quanta", "quanta"},
       {"first_ns", "from", Shown::kNanoseconds},
       {"last_ns", "until", Shown::kNanoseconds}},
      {},
      {},
      !traffic.pause_requests.empty()};
  table.without_rows =
      traffic.counters.records > 0 ? "no record is a pause frame" : "the captures have no records";
  for (const auto& [asker, requests] : traffic.pause_requests) {
    table.rows.push_back({to_string(asker.mac), priority_text(asker.priority), requests.asks,
                          requests.ends, requests.most_quanta,
                          (requests.first - traffic.origin).ns(),
                          (requests.last - traffic.origin).ns()});
  }
  if (traffic.counters.pauses_not_kept > 0) {
    table.notes.push_back(fmt::format("{} more are of further ports and are left out",
                                      traffic.counters.pauses_not_kept));
  }
  return table;
}

}  // namespace mrclab::lab
