// One packet's life for people (80 columns) and for programs.

#include <fmt/format.h>

#include "console/terminal.h"
#include "fabric/packet/drop_kind.h"
#include "fabric/text/counted_noun.h"
#include "fabric/text/enum_words.h"
#include "fabric/topology/path.h"
#include "recorded/run/packet_trace.h"

namespace mrclab::lab {
namespace {

using analysis::Answer;
using analysis::Hop;
using analysis::LifeAttempt;
using Json = nlohmann::ordered_json;

/// "301.234567us"; of captures, which count nanoseconds, "301.234us".
std::string instant(FabricTime t, bool exact) {
  if (exact) return fmt::format("{}.{:06}us", t.ps() / 1'000'000, t.ps() % 1'000'000);
  return fmt::format("{}.{:03}us", t.ns() / 1'000, t.ns() % 1'000);
}

std::string path_name(EntropyValue ev) {
  const auto path = path_of(ev);
  return path ? to_string(*path) : fmt::format("EV 0x{:08x}", ev.value);
}

std::string host_text(const Topology& topology, uint32_t host) {
  return topology.node(topology.host(host)).name;
}

/// What the receiving NIC did not take has arrived all the same.
std::string_view word_of(DropCause cause) {
  return drop_kind(cause) == DropKind::kRefused ? "refused" : "lost";
}

std::string end_text(const LifeAttempt& attempt) {
  const Hop& last = attempt.hops.back();
  switch (attempt.fate) {
    case analysis::Fate::kDelivered: return "delivered";
    case analysis::Fate::kTrimmed: return "its header was delivered, its payload was not";
    case analysis::Fate::kDropped:
      return fmt::format("{}: {}", word_of(attempt.cause), name_of(attempt.cause));
    case analysis::Fate::kInFlight: break;
  }
  return last.seen != nullptr && last.side == Direction::kEgress
             ? "last seen here: it was on this wire"
             : "last seen here: it was in this node";
}

std::string answer_text(const Topology& topology, const Answer& answer) {
  std::string text = fmt::format("{} on {} at {}", answer.reason ? "NACK" : name_of(answer.opcode),
                                 topology.port_name(answer.where), instant(answer.t, false));
  if (answer.reason) return text + fmt::format(" ({})", name_of(*answer.reason));
  return text;
}

std::string hop_notes(const Hop& hop) {
  std::string notes;
  if (hop.seen == nullptr) return "not captured";
  if (hop.seen->event == PacketEvent::kDropped) {
    return fmt::format("{} here", word_of(hop.seen->cause));
  }
  if (hop.waited && *hop.waited > FabricTime::zero()) {
    notes = fmt::format("waited {}", to_string(*hop.waited));
  }
  if (hop.marked) notes += notes.empty() ? "marked" : ", marked";
  if (hop.trimmed) notes += notes.empty() ? "trimmed" : ", trimmed";
  return notes;
}

void append_attempt(std::string& text, const PacketTrace& trace, const LifeAttempt& attempt) {
  const Topology& topology = trace.topology();
  text += fmt::format("\n{} {}  {}  EV 0x{:08x}{}\n", attempt.copy ? "copy of attempt" : "attempt",
                      attempt.number, path_name(attempt.ev), attempt.ev.value,
                      attempt.number > 1 && !attempt.copy ? "  retransmitted" : "");
  std::vector<std::vector<std::string>> rows{{"PORT", "", "OUTER DESTINATION", "AT", ""}};
  for (const Hop& hop : attempt.hops) {
    rows.push_back({topology.port_name(hop.where), hop.side == Direction::kEgress ? "out" : "in",
                    hop.carrier ? to_string(*hop.carrier) : "?",
                    hop.seen != nullptr ? instant(hop.seen->t, hop.seen->from_record) : "-",
                    hop_notes(hop)});
  }
  text += table(rows);
  text += "  " + end_text(attempt) + "\n";
  if (attempt.reported != nullptr) {
    const bool gap = !attempt.reported->reason;
    text += fmt::format("  reported by {}{}\n", answer_text(topology, *attempt.reported),
                        gap ? ": later ones had arrived" : "");
  } else if (attempt.fate != analysis::Fate::kDelivered && attempt.declared == nullptr) {
    text += "  no report of it in the captures\n";
  }
  if (attempt.declared != nullptr) {
    text += fmt::format("  {} gave it up at {} ({})\n", host_text(topology, trace.packet().source),
                        instant(attempt.declared->t, true), attempt.declared->cause);
  }
}

Json hop_json(const Topology& topology, const Hop& hop) {
  Json json{{"port", topology.port_name(hop.where)},
            {"side", hop.side == Direction::kEgress ? "out" : "in"}};
  json["carrier"] = hop.carrier ? Json(to_string(*hop.carrier)) : Json();
  json["source"] = hop.seen == nullptr ? "none" : hop.seen->from_record ? "record" : "capture";
  if (hop.seen == nullptr) return json;
  json["t_ps"] = hop.seen->t.ps();
  if (hop.waited) json["waited_ps"] = hop.waited->ps();
  json["dscp"] = hop.seen->traffic_class >> 2;
  json["ecn"] = hop.seen->traffic_class & 3;
  json["marked_here"] = hop.marked;
  json["trimmed_here"] = hop.trimmed;
  json["wire_bytes"] = hop.seen->wire_bytes;
  if (hop.seen->event == PacketEvent::kDropped) json["dropped"] = name_of(hop.seen->cause);
  if (hop.seen->trailer) {
    json["wire"] = topology.wire_name(hop.seen->trailer->wire);
    json["wire_sequence"] = hop.seen->trailer->sequence;
  }
  return json;
}

Json answer_json(const Topology& topology, const Answer& answer) {
  Json json{{"kind", name_of(answer.opcode)},
            {"t_ps", answer.t.ps()},
            {"port", topology.port_name(answer.where)},
            {"reflected_path", path_name(answer.reflected)}};
  if (answer.reason) json["reason"] = name_of(*answer.reason);
  return json;
}

Json attempt_json(const Topology& topology, const LifeAttempt& attempt) {
  static constexpr auto kEnds =
      words_by_value<analysis::Fate>({{analysis::Fate::kInFlight, "unknown"},
                                      {analysis::Fate::kDelivered, "delivered"},
                                      {analysis::Fate::kTrimmed, "header_delivered"},
                                      {analysis::Fate::kDropped, "dropped"}});
  Json json{{"attempt", attempt.number},
            {"copy", attempt.copy},
            {"ev", attempt.ev.value},
            {"path", path_name(attempt.ev)},
            {"end", kEnds[static_cast<size_t>(attempt.fate)]}};
  if (attempt.cause != DropCause::kNone) json["cause"] = name_of(attempt.cause);
  json["hops"] = Json::array();
  for (const Hop& hop : attempt.hops) json["hops"].push_back(hop_json(topology, hop));
  if (attempt.reported != nullptr) json["reported"] = answer_json(topology, *attempt.reported);
  if (attempt.declared != nullptr) {
    json["declared"] = {{"t_ps", attempt.declared->t.ps()}, {"cause", attempt.declared->cause}};
  }
  return json;
}

bool shown(const PacketTrace& trace, const LifeAttempt& attempt) {
  return !trace.only_attempt() || *trace.only_attempt() == attempt.number;
}

}  // namespace

std::string to_text(const PacketTrace& trace) {
  const analysis::FoundPacket& packet = trace.packet();
  const auto& first = *trace.life().attempts.front().hops.front().seen;
  std::string text =
      fmt::format("packet PSN {} of QP 0x{:x}: {} to {}, {}", packet.psn.value(),
                  packet.destination_qp.value, host_text(trace.topology(), packet.source),
                  host_text(trace.topology(), packet.destination), name_of(first.opcode));
  if (first.payload > 0) text += fmt::format(", {}", counted_noun(first.payload, "byte"));
  if (first.msn) text += fmt::format(", message {}", *first.msn);
  text += "\n";
  for (const std::string& source : trace.sources()) text += source + "\n";
  for (const LifeAttempt& attempt : trace.life().attempts) {
    if (shown(trace, attempt)) append_attempt(text, trace, attempt);
  }
  if (const Answer* acknowledged = trace.life().acknowledged) {
    text += fmt::format("\nacknowledged by {}\n", answer_text(trace.topology(), *acknowledged));
  } else {
    text += "\nnot acknowledged in these files\n";
  }
  return text;
}

Json to_json(const PacketTrace& trace) {
  const analysis::FoundPacket& packet = trace.packet();
  Json json{{"qp", packet.destination_qp.value},
            {"psn", packet.psn.value()},
            {"source", host_text(trace.topology(), packet.source)},
            {"destination", host_text(trace.topology(), packet.destination)},
            {"evidence", trace.sources()},
            {"attempts", Json::array()}};
  for (const LifeAttempt& attempt : trace.life().attempts) {
    if (shown(trace, attempt)) json["attempts"].push_back(attempt_json(trace.topology(), attempt));
  }
  const Answer* acknowledged = trace.life().acknowledged;
  json["acknowledged"] =
      acknowledged != nullptr ? answer_json(trace.topology(), *acknowledged) : Json();
  return json;
}

}  // namespace mrclab::lab
