// The difference of two runs for people (80 columns) and for programs.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "console/shell_word.h"
#include "console/terminal.h"
#include "fabric/packet/headers.h"
#include "fabric/text/counted_noun.h"
#include "fabric/text/enum_words.h"
#include "fabric/topology/path.h"
#include "recorded/diff/run_diff.h"

namespace mrclab::lab {
namespace {

using nlohmann::ordered_json;

constexpr size_t kStreamsShown = 10;
constexpr size_t kStreamsInJson = 1000;

/// Exact: "301.234567us".
std::string time_text(FabricTime t) {
  if (t == FabricTime::never()) return "never";
  return fmt::format("{}.{:06}us", t.ps() / 1'000'000, t.ps() % 1'000'000);
}

std::string opcode_text(const CompactRecord& record) {
  if (record.opcode == 0) return "no MRC packet";
  return std::string(name_of(static_cast<Opcode>(record.opcode)));
}

std::string_view event_word(PacketEvent event) {
  static constexpr auto kNames = words_by_value<PacketEvent>({{PacketEvent::kPassed, "passed"},
                                                              {PacketEvent::kTrimmed, "trimmed"},
                                                              {PacketEvent::kDropped, "dropped"}});
  return kNames[static_cast<size_t>(event)];
}

std::string event_text(const CompactRecord& record) {
  const std::string word(event_word(record.event));
  return record.event == PacketEvent::kDropped ? fmt::format("{}, {}", word, name_of(record.cause))
                                               : word;
}

std::string path_text(const CompactRecord& record) {
  const auto path = path_of(record.ev);
  return path ? to_string(*path) : "no path";
}

/// "4 trimmable", as the run's fabric has it.
std::string dscp_text(const RecordedRun& run, uint8_t dscp) {
  const std::string_view word = class_of(run.scenario.topology.dscps, dscp);
  return std::to_string(dscp) + (word.empty() ? "" : " ") + std::string(word);
}

std::string ecn_text(uint8_t ecn) {
  constexpr const char* kEcnWords[] = {"not ECT", "ECT(1)", "ECT(0)", "CE"};
  return kEcnWords[ecn & 3];
}

std::string queue_text(QueueClass queue) {
  switch (queue) {
    case QueueClass::kNone: return "none";
    case QueueClass::kData: return "data";
    case QueueClass::kControl: return "control";
    case QueueClass::kTrimmed: return "trimmed";
    case QueueClass::kLossless: return "lossless";
    case QueueClass::kPause: return "pause";
  }
  return "?";
}

struct Field {
  const char* name;
  std::string value;
};

/// All fields that are kept of a packet, for people. The same number for all packets.
std::vector<Field> fields_of(const RecordedRun& run, const CompactRecord& record) {
  const bool mrc = record.opcode != 0;
  return {{"time", time_text(record.t)},
          {"event", event_text(record)},
          {"packet", opcode_text(record)},
          {"queue pair", mrc ? fmt::format("0x{:06x}", record.qpn.value) : "-"},
          {"PSN", mrc ? std::to_string(record.psn.value()) : "-"},
          {"path", mrc ? path_text(record) : "-"},
          {"entropy", mrc ? fmt::format("0x{:08x}", record.ev.value) : "-"},
          {"wire length", counted_noun(record.wire_length, "byte")},
          {"DSCP", dscp_text(run, record.traffic_class >> 2)},
          {"ECN", ecn_text(record.traffic_class)},
          {"queue", queue_text(record.queue)},
          {"all headers", fmt::format("{:08x}", record.fingerprint)}};
}

/// Wrapped between words, what hangs under a bullet indented further.
std::string paragraph(const std::string& text, size_t indent) {
  std::string out, line(indent, ' ');
  bool empty = true;
  for (size_t at = 0; at < text.size();) {
    const size_t space = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, space - at);
    if (!empty && line.size() + 1 + word.size() > kTerminalColumns) {
      out += line + "\n";
      line.assign(indent == 0 ? 0 : indent + 2, ' ');
      empty = true;
    }
    line += (empty ? "" : " ") + word;
    empty = false;
    at = space + 1;
  }
  return out + line + "\n";
}

std::string rule() { return std::string(kTerminalColumns, '-') + "\n"; }

std::string faith_of(const RecordedRun& run) {
  if (run.wall) return "wall clock";
  return run.faithful ? "FAITHFUL" : "NOT FAITHFUL";
}

std::string run_lines(const char* name, const RecordedRun& run) {
  return fmt::format("{}  {}\n   {}, seed {}, {}, {}, {}\n", name, run.folder.string(), run.world,
                     run.scenario.seed, faith_of(run), counted_noun(run.records(), "record"),
                     run.history_sha256.substr(0, 16));
}

const char* later(bool a_is_first) { return a_is_first ? "B" : "A"; }

/// What the first difference is, in words.
std::string sentence(const RunDiff& diff) {
  const StreamDifference& first = diff.streams.front();
  if (first.a && first.b && same_packet(*first.a, *first.b)) {
    CompactRecord but_for_headers = *first.a;
    but_for_headers.fingerprint = first.b->fingerprint;
    return same_record(but_for_headers, *first.b)
               ? "Both runs see this packet there; its carrier, addresses or BTH bits differ:"
               : "Both runs see this packet there, but not alike:";
  }
  if (first.a && first.b && first.a->t == first.b->t) {
    return "At the same instant each run has another packet there:";
  }
  const bool a_is_first = !first.b || (first.a && first.a->t <= first.b->t);
  const std::string other = later(a_is_first);
  std::string text =
      fmt::format("The packet in {} does not happen in {} there; ", later(!a_is_first), other);
  const auto& next = a_is_first ? first.b : first.a;
  text += next ? fmt::format("next in {} is another:", other)
               : fmt::format("{} has no more records of this port:", other);
  if (diff.elsewhere) {
    text.pop_back();
    text += fmt::format(" ({} sees it at {}).", other, time_text(diff.elsewhere->t));
  }
  return text;
}

std::string stream_words(const std::string& name) {
  const size_t slash = name.rfind('/');
  return name.substr(0, slash) + (name.substr(slash + 1) == "in" ? ", incoming" : ", outgoing");
}

std::string first_difference(const RunDiff& diff) {
  const StreamDifference& first = diff.streams.front();
  std::string text = fmt::format("first difference  {}\n{}, record {}\n", time_text(first.t),
                                 std::string(18, ' ') + stream_words(first.name), *first.index);
  text += paragraph(sentence(diff), 0) + "\n";
  text += fmt::format("  {:<13}{:<25}{}\n", "", "A", "B");
  const auto a = first.a ? fields_of(diff.a, *first.a) : std::vector<Field>{};
  const auto b = first.b ? fields_of(diff.b, *first.b) : std::vector<Field>{};
  const bool both = first.a && first.b;
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const std::string in_a = a.empty() ? "-" : a[i].value;
    const std::string in_b = b.empty() ? "-" : b[i].value;
    text += fmt::format("{} {:<13}{:<25}{}\n", both && in_a != in_b ? '*' : ' ',
                        (a.empty() ? b : a)[i].name, in_a, in_b);
  }
  return text;
}

std::string context_text(const RunDiff& diff) {
  if (diff.before.empty()) return "";
  const std::string& name = diff.streams.front().name;
  std::string text =
      fmt::format("\nbefore it at {}, in both runs\n", name.substr(0, name.rfind('/')));
  for (const ContextRecord& line : diff.before) {
    const CompactRecord& r = line.record;
    const std::string id =
        r.opcode == 0 ? ""
                      : fmt::format("0x{:06x} {:>8} {}", r.qpn.value, r.psn.value(), path_text(r));
    text += fmt::format("  {:>13} {:<3} {:<8} {:<17}{}\n", time_text(r.t),
                        line.egress ? "out" : "in", event_text(r).substr(0, 7), opcode_text(r), id);
  }
  return text;
}

std::string streams_text(const RunDiff& diff) {
  // Streams of both runs: unlike fabrics have only some in common.
  std::set<std::string_view> names;
  for (const RecordedRun* run : {&diff.a, &diff.b}) {
    for (const HistoryStream& stream : run->streams) names.insert(stream.name);
  }
  std::string text = fmt::format("\nstreams that differ: {} of {}, by their first difference\n",
                                 diff.streams.size(), names.size());
  for (size_t i = 0; i < diff.streams.size() && i < kStreamsShown; ++i) {
    const StreamDifference& stream = diff.streams[i];
    text += fmt::format("  {:>13}  {:<20} records A {:<8} B {}\n",
                        stream.index ? time_text(stream.t) : "later", stream.name, stream.count_a,
                        stream.count_b);
  }
  if (diff.streams.size() > kStreamsShown) {
    text += fmt::format("  and {} more\n", diff.streams.size() - kStreamsShown);
  }
  return text;
}

std::string hints_text(const std::string& heading, const std::vector<std::string>& hints) {
  if (hints.empty()) return "";
  std::string text = "\n" + heading + "\n";
  for (const std::string& hint : hints) text += paragraph(hint, 2);
  return text;
}

/// The run again, with room for all of its records.
std::string command_for(const RecordedRun& run) {
  const uint64_t needed = (run.records() * kCompactRecordBytes * 11 / 10 >> 20) + 1;
  return fmt::format("{}mrclab run {}/scenario.yaml --world {} --history {}MiB",
                     run.world == "live" ? "sudo " : "", shell_word(run.folder.string()), run.world,
                     std::max(needed, kHistoryBytesDefault >> 20));
}

std::string not_located(const RunDiff& diff) {
  const std::string until = diff.complete() == FabricTime::zero()
                                ? "One of the runs kept no complete records"
                                : fmt::format(
                                      "Up to {} both runs are the same; behind that the "
                                      "records of one of them are incomplete",
                                      time_text(diff.complete()));
  std::string text = paragraph(until + ". To see more:", 0);
  if (diff.complete_a != FabricTime::never()) text += "  " + command_for(diff.a) + "\n";
  if (diff.complete_b != FabricTime::never()) text += "  " + command_for(diff.b) + "\n";
  return text;
}

ordered_json record_json(const std::optional<CompactRecord>& record) {
  if (!record) return nullptr;
  ordered_json out{{"t_ps", record->t.ps()}, {"event", event_word(record->event)}};
  out["cause"] = name_of(record->cause);
  out["queue"] = queue_text(record->queue);
  out["dscp"] = record->traffic_class >> 2;
  out["ecn"] = record->traffic_class & 3;
  out["opcode"] = record->opcode == 0 ? ordered_json(nullptr) : ordered_json(opcode_text(*record));
  out["qp"] = record->qpn.value;
  out["psn"] = record->psn.value();
  out["ev"] = record->ev.value;
  out["path"] = path_text(*record);
  out["wire_length"] = record->wire_length;
  out["fingerprint"] = record->fingerprint;
  return out;
}

ordered_json run_json(const RecordedRun& run) {
  return {{"folder", run.folder.string()},
          {"scenario", run.scenario.name},
          {"world", run.world},
          {"seed", run.scenario.seed},
          {"faithful", run.faithful},
          {"records", run.records()},
          {"history_sha256", run.history_sha256}};
}

ordered_json difference_json(const StreamDifference& difference) {
  ordered_json out{{"stream", difference.name},
                   {"count_a", difference.count_a},
                   {"count_b", difference.count_b}};
  out["index"] = difference.index ? ordered_json(*difference.index) : ordered_json(nullptr);
  out["t_ps"] = difference.index ? ordered_json(difference.t.ps()) : ordered_json(nullptr);
  out["a"] = record_json(difference.a);
  out["b"] = record_json(difference.b);
  return out;
}

}  // namespace

std::string to_text(const RunDiff& diff) {
  const std::string runs = run_lines("A", diff.a) + run_lines("B", diff.b);
  if (diff.same) {
    return "the same history\n" + runs + "history  " + diff.a.history_sha256 + "\n" +
           hints_text("though these differ", diff.hints);
  }
  std::string text = "the histories differ\n" + runs + rule();
  text += diff.located ? first_difference(diff) + context_text(diff) : not_located(diff);
  text += streams_text(diff);
  return text + hints_text("what may explain it", diff.hints);
}

nlohmann::ordered_json to_json(const RunDiff& diff) {
  ordered_json out{{"same", diff.same}, {"a", run_json(diff.a)}, {"b", run_json(diff.b)}};
  out["hints"] = diff.hints;
  if (diff.same) return out;
  out["complete_until_ps"] = diff.complete() == FabricTime::never()
                                 ? ordered_json(nullptr)
                                 : ordered_json(diff.complete().ps());
  out["first"] = diff.located ? difference_json(diff.streams.front()) : ordered_json(nullptr);
  out["seen_later"] = record_json(diff.elsewhere);
  out["before"] = ordered_json::array();
  for (const ContextRecord& line : diff.before) {
    ordered_json record = record_json(line.record);
    record["direction"] = line.egress ? "out" : "in";
    out["before"].push_back(std::move(record));
  }
  out["streams_differing"] = diff.streams.size();
  out["streams"] = ordered_json::array();
  for (size_t i = 0; i < diff.streams.size() && i < kStreamsInJson; ++i) {
    out["streams"].push_back(difference_json(diff.streams[i]));
  }
  return out;
}

}  // namespace mrclab::lab
