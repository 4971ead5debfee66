// An imported incident as a scenario file, and the lines about it on the terminal.

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "console/json_print.h"
#include "console/terminal.h"
#include "fabric/text/counted_noun.h"
#include "fabric/text/plain_text.h"
#include "fabric/text/yaml_write.h"
#include "scenario/import/incident_import.h"

namespace mrclab::lab {
namespace {

constexpr std::string_view kLossOfErrors = "1%";  // where the log has no rate
constexpr size_t kNamesShown = 10;

/// "4.2 s", "3 min 20 s", "250 ms": of the log's time, for people.
std::string span_text(int64_t ns) {
  constexpr int64_t kMs = 1'000'000, kSecond = 1000 * kMs, kMinute = 60 * kSecond;
  if (ns < kMs) return fmt::format("{:.3g} us", static_cast<double>(ns) / 1e3);
  if (ns < kSecond) return fmt::format("{:.4g} ms", static_cast<double>(ns) / kMs);
  if (ns < kMinute) return fmt::format("{:.4g} s", static_cast<double>(ns) / kSecond);
  if (ns < 60 * kMinute) return fmt::format("{} min {} s", ns / kMinute, ns % kMinute / kSecond);
  return fmt::format("{} h {} min", ns / (60 * kMinute), ns % (60 * kMinute) / kMinute);
}

std::string start_text(const ImportedIncident& in) {
  constexpr int64_t kSecond = 1'000'000'000, kYear = 366 * 86'400 * kSecond;
  if (in.first_ns < kYear) return "";  // seconds that count from anything
  const std::time_t when = in.first_ns / kSecond;
  return in.dated ? fmt::format(" from {:%Y-%m-%d %H:%M:%S} on", fmt::gmtime(when))
                  : fmt::format(" from {:%b %d %H:%M:%S} on", fmt::gmtime(when));
}

std::string thousands(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

size_t count(const ImportedIncident& in, LinkEventKind kind) {
  return static_cast<size_t>(
      std::count_if(in.outages.begin(), in.outages.end(),
                    [&](const auto& outage) { return outage.kind == kind; }));
}

size_t open_at_end(const ImportedIncident& in) {
  return static_cast<size_t>(std::count_if(in.outages.begin(), in.outages.end(),
                                           [](const auto& outage) { return !outage.until; }));
}

bool errors_without_rate(const ImportedIncident& in) {
  return std::any_of(in.outages.begin(), in.outages.end(), [](const auto& outage) {
    return outage.kind == LinkEventKind::kErrors && outage.rate.empty();
  });
}

double rtts(FabricTime time, FabricTime rtt) {
  return static_cast<double>(time.ps()) / static_cast<double>(rtt.ps());
}

bool too_short(const ImportedIncident& in, FabricTime rtt) {
  return in.shortest_ns && in.shortest < rtt * kShortestOutageRtts;
}

std::string events_sentence(const ImportedIncident& in) {
  std::string text = fmt::format("{} in {}{}: {}", counted_noun(in.events, "link event"),
                                 span_text(in.last_ns - in.first_ns), start_text(in),
                                 counted_noun(count(in, LinkEventKind::kDown), "outage of links"));
  if (const size_t errors = count(in, LinkEventKind::kErrors); errors > 0) {
    text += fmt::format(", {}", counted_noun(errors, "spell of errors"));
  }
  if (const size_t open = open_at_end(in); open > 0) {
    text += fmt::format(", {} of them open at the end", open);
  }
  return text + ".";
}

std::string compression_sentence(const ImportedIncident& in, FabricTime rtt) {
  std::string text = in.compress == 1 ? "Not compressed: a second is a second of the fabric"
                                      : fmt::format("Compressed: time runs {} times faster",
                                                    thousands(in.compress));
  if (in.shortest_ns) {
    text += fmt::format("; the shortest outage, of {}, is one of {} or {:.3g} RTT",
                        span_text(*in.shortest_ns), to_string(in.shortest), rtts(in.shortest, rtt));
  }
  text += ".";
  if (in.quiet_removed > FabricTime::zero()) {
    text += fmt::format(" Of the time in which nothing was broken, {} are cut out.",
                        to_string(in.quiet_removed));
  }
  return text;
}

std::vector<std::string> oddities(const ImportedIncident& in) {
  std::vector<std::string> lines;
  const auto note = [&](size_t number, const Noun& what) {
    if (number > 0) lines.push_back(counted_noun(number, what));
  };
  note(in.unsorted, {"line is earlier than the line above it: sorted by time",
                     "lines are earlier than the line above them: sorted by time"});
  note(in.doubled,
       {"down of a port that was down: left out", "downs of a port that was down: left out"});
  note(in.ups_alone,
       {"up of a port that was not down: left out", "ups of a port that was not down: left out"});
  note(in.within_a_tick, {"event of a port at the time of another: spread over the tick",
                          "events of a port at one and the same time: spread over the tick"});
  note(in.other_lines, {"line is not about a link", "lines are not about a link"});
  return lines;
}

/// Words of a text in lines of at most `columns`, each behind `indent`.
std::string indented(const std::string& text, const std::string& indent, size_t columns) {
  std::string result, line;
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    at = end + 1;
    if (!line.empty() && indent.size() + line.size() + 1 + word.size() > columns) {
      result += indent + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return result + indent + line + "\n";
}

/// The lines that could not be read, each with its number and reason.
std::string unread_text(const ImportedIncident& in) {
  std::string text;
  for (const std::string& note : in.notes) text += indented(note, "  ", kTerminalColumns);
  if (in.unread_lines == 0) return text;
  text += fmt::format("  not read: {}\n", counted_noun(in.unread_lines, "line"));
  size_t shown = 0;
  for (const UnreadLine& unread : in.unread) {
    if (++shown > kNamesShown) break;
    text +=
        indented(fmt::format("line {}: {}", unread.line, unread.reason), "    ", kTerminalColumns);
  }
  if (in.unread_lines > kNamesShown)
    text += fmt::format("    and {} more\n", in.unread_lines - kNamesShown);
  return text;
}

std::string fault_line(const ImportedOutage& outage, const Topology& topology) {
  const std::string port = topology.port_name(outage.port);
  std::string body;
  if (outage.kind == LinkEventKind::kDown) {
    body = fmt::format("link_down: {{link: \"{}\"", port);
  } else {
    const bool bits = outage.rate.find('e') != std::string::npos;
    const std::string_view rate = outage.rate.empty() ? kLossOfErrors : outage.rate;
    body = fmt::format("{}: {{wire: \"{}->{}\", {}: {}", bits ? "bit_errors" : "wire_loss",
                       topology.port_name(topology.port(outage.port).peer), port,
                       bits ? "rate" : "loss", rate);
  }
  if (outage.until) body += ", for: " + exact(outage.duration);
  return fmt::format("  - {{at: {}, {}}}}}\n", exact(outage.at), body);
}

std::string expectations(const ImportedIncident& in) {
  std::string text = "expect:\n  - safety\n";
  text += in.host_cut_off ? "  # Not no_qp_error: for a while a host has no link at all.\n"
                          : "  - no_qp_error\n";
  text += "  - memory_intact\n";
  text += open_at_end(in) > 0 ? "  # Not healed: the log ends with something broken.\n"
                              : "  - healed\n";
  return text;
}

std::string about(const ImportedIncident& in, const Topology& topology, const ImportText& text) {
  const bool odd = find_odd_text(text.source).has_value();
  std::string result =
      fmt::format("Imported from {}: {} {}",
                  odd ? "a file whose name is no plain text" : in_quotes(text.source),
                  events_sentence(in), compression_sentence(in, topology.base_rtt));
  if (too_short(in, topology.base_rtt)) {
    result += fmt::format(" That is shorter than {} RTT: senders may not notice it.",
                          kShortestOutageRtts);
  }
  if (errors_without_rate(in)) {
    result += fmt::format(" Errors without a rate are {} of frames lost.", kLossOfErrors);
  }
  if (!in.unknown.empty()) {
    result += fmt::format(" Events of {} that the map lacks are left out.",
                          counted_noun(in.unknown.size(), "port"));
  }
  return result + " The transport's timers are multiples of the base RTT.";
}

}  // namespace

std::string to_yaml(const ImportedIncident& in, const Topology& topology, const ImportText& text) {
  std::string yaml = "name: " + yaml_word(text.name) + "\nabout: >-\n";
  yaml += indented(about(in, topology, text), "  ", 100);
  yaml +=
      fmt::format("fabric: {}\nseed: 1\nworkload:\n  - {}\nfaults:\n", text.fabric, text.workload);
  for (const ImportedOutage& outage : in.outages) yaml += fault_line(outage, topology);
  return yaml + "end: " + exact(in.end) + "\n" + expectations(in);
}

std::string summary(const ImportedIncident& in, const Topology& topology) {
  const FabricTime rtt = topology.base_rtt;
  std::string text = indented(events_sentence(in), "", kTerminalColumns);
  text += indented(compression_sentence(in, rtt), "", kTerminalColumns);
  text += fmt::format("The scenario ends at {}.\n", to_string(in.end));
  for (const std::string& line : oddities(in)) text += indented(line, "  ", kTerminalColumns);
  text += unread_text(in);
  if (!in.unknown.empty()) {
    text +=
        fmt::format("  left out: {} that the map lacks\n", counted_noun(in.unknown.size(), "port"));
    size_t shown = 0;
    for (const auto& [port, events] : in.unknown) {
      if (++shown > kNamesShown) break;
      text += fmt::format("    {:<40} {}\n", in_quotes(port), counted_noun(events, "event"));
    }
    if (in.unknown.size() > kNamesShown) {
      text += fmt::format("    and {} more\n", in.unknown.size() - kNamesShown);
    }
  }
  if (too_short(in, rtt)) {
    const double factor = static_cast<double>(in.compress) * rtts(in.shortest, rtt) /
                          static_cast<double>(kShortestOutageRtts);
    text += indented(
        fmt::format("The shortest outage is shorter than {} RTT: senders may not notice "
                    "it. With --compress {} they do; --quiet 200us cuts out what that "
                    "adds while nothing is broken.",
                    kShortestOutageRtts, std::max<uint64_t>(1, static_cast<uint64_t>(factor))),
        "", kTerminalColumns);
  }
  return text;
}

std::string summary_json(const ImportedIncident& in, const Topology& topology) {
  nlohmann::ordered_json summary{{"events", in.events},
                                 {"outages", count(in, LinkEventKind::kDown)},
                                 {"errors", count(in, LinkEventKind::kErrors)},
                                 {"open_at_end", open_at_end(in)},
                                 {"span_ns", in.last_ns - in.first_ns},
                                 {"compress", in.compress},
                                 {"shortest_ns", nullptr},
                                 {"shortest_rtt", nullptr},
                                 {"quiet_removed_ns", in.quiet_removed.ns()},
                                 {"end_ns", in.end.ns()},
                                 {"unsorted", in.unsorted},
                                 {"doubled", in.doubled},
                                 {"ups_alone", in.ups_alone},
                                 {"within_a_tick", in.within_a_tick},
                                 {"other_lines", in.other_lines},
                                 {"unread_lines", in.unread_lines},
                                 {"unread", nlohmann::json::array()},
                                 {"notes", in.notes},
                                 {"unknown_ports", in.unknown}};
  for (const UnreadLine& unread : in.unread) {
    summary["unread"].push_back({{"line", unread.line}, {"reason", unread.reason}});
  }
  if (in.shortest_ns) {
    summary["shortest_ns"] = *in.shortest_ns;
    summary["shortest_rtt"] = rtts(in.shortest, topology.base_rtt);
  }
  return printed(summary, "import") + "\n";
}

}  // namespace mrclab::lab
