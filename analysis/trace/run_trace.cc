#include "analysis/trace/run_trace.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/capture/cut_frame.h"
#include "analysis/capture/open_capture.h"
#include "analysis/capture/record_words.h"
#include "fabric/history/evidence_seal.h"
#include "fabric/history/window_text.h"
#include "fabric/node/event_kind.h"
#include "fabric/text/json_text.h"
#include "fabric/text/line_file.h"
#include "fabric/text/visible_text.h"

namespace mrclab::analysis {
namespace {

void read_if_there(const nlohmann::json& line, const char* key, std::string& value) {
  const auto found = line.find(key);
  if (found != line.end()) found->get_to(value);
}

void read_if_there(const nlohmann::json& line, const char* key, std::optional<uint32_t>& value) {
  const auto found = line.find(key);
  if (found != line.end()) value = found->get<uint32_t>();
}

/// Throws nlohmann::json::exception for a line that is none of ours.
RunEvent parse_event(const std::string& text) {
  const auto line = parse_json<nlohmann::json>(text);
  RunEvent event;
  event.t = FabricTime::from_ps(line.at("t_ps").get<int64_t>());
  line.at("kind").get_to(event.kind);
  line.at("node").get_to(event.node);
  read_if_there(line, "port", event.port);
  read_if_there(line, "cause", event.cause);
  read_if_there(line, "detail", event.detail);
  if (event.kind == event_kind::kWindow) event.detail = describe_window(line);
  read_if_there(line, "qp", event.qp);
  read_if_there(line, "ev", event.ev);
  read_if_there(line, "psn", event.psn);
  for (std::string* word : {&event.kind, &event.node, &event.port, &event.cause, &event.detail}) {
    *word = visible(*word);
  }
  return event;
}

}  // namespace

RunEvents read_run_events(const std::filesystem::path& file) {
  RunEvents events;
  LineFile lines(file);
  for (std::string line; lines.next(line);) {
    if (is_seal_line(line)) continue;
    if (events.list.size() == RunEvents::kMax) {
      ++events.left_out;
      continue;
    }
    try {
      events.list.push_back(parse_event(line));
    } catch (const nlohmann::json::exception&) {
      ++events.malformed;
    }
  }
  return events;
}

void add_answers(const Topology& topology, const std::filesystem::path& capture,
                 RunAnswers& answers) {
  const auto reader = open_capture(capture);
  std::vector<CapturePlace> places;  // by interface
  CaptureRecord record;
  CutFrame kept;
  while (reader->next(record)) {
    while (places.size() <= record.interface) {
      places.push_back(place_named(topology, reader->interfaces()[places.size()].name));
    }
    const CapturePlace& place = places[record.interface];
    const bool arrives = record.direction == CaptureDirection::kInbound;
    if (place.kind != CapturePlace::Kind::kHostPort || !arrives) continue;
    if (kept.open(record.bytes) != ParseError::kNone) continue;
    const Opcode opcode = kept.view().opcode();
    if (opcode != Opcode::kSack && opcode != Opcode::kNack) continue;
    const SeenAnswer said = answer_in(kept.view());
    if (said.probe) continue;
    if (answers.list.size() == RunAnswers::kMax) {
      ++answers.left_out;
      continue;
    }
    answers.list.push_back({record.t, place.port.node, kept.view().destination_qp().value, said});
  }
}

std::vector<Moment> moments_of(const RunTrace& trace) {
  std::vector<Moment> moments;
  const auto add = [&](FabricTime t, MomentKind kind, size_t index) {
    if (t <= trace.end) moments.push_back({t, kind, static_cast<uint32_t>(index)});
  };
  moments.reserve(2 * trace.packets.attempts().size() + trace.packets.packets().size() +
                  trace.events.list.size() + trace.answers.list.size() + 2 * trace.faults.size());
  for (size_t i = 0; i < trace.faults.size(); ++i) {
    add(trace.faults[i].start, MomentKind::kFaultStarts, i);
    add(trace.faults[i].healed_at, MomentKind::kFaultHealed, i);
  }
  for (size_t i = 0; i < trace.packets.attempts().size(); ++i) {
    add(trace.packets.attempts()[i].start, MomentKind::kSent, i);
    add(trace.packets.attempts()[i].ended, MomentKind::kEnded, i);
  }
  for (size_t i = 0; i < trace.packets.packets().size(); ++i) {
    add(trace.packets.packets()[i].acknowledged, MomentKind::kAcknowledged, i);
  }
  for (size_t i = 0; i < trace.answers.list.size(); ++i) {
    add(trace.answers.list[i].t, MomentKind::kAnswer, i);
  }
  for (size_t i = 0; i < trace.events.list.size(); ++i) {
    add(trace.events.list[i].t, MomentKind::kEvent, i);
  }
  std::stable_sort(moments.begin(), moments.end(), [](const Moment& a, const Moment& b) {
    return a.t != b.t ? a.t < b.t : a.kind < b.kind;
  });
  return moments;
}

std::string flow_name(const RunTrace& trace, const Flow& flow) {
  std::array<char, 16> qp{};
  std::snprintf(qp.data(), qp.size(), "0x%x", flow.destination_qp.value);
  const auto host = [&](uint32_t number) {
    return trace.topology.node(trace.topology.host(number)).name;
  };
  return host(flow.source) + " > " + host(flow.destination) + " qp " + qp.data();
}

std::string place_of(const RunTrace& trace, const Attempt& attempt) {
  if (!attempt.where.node.valid()) return "";
  return attempt.where.port.valid() ? trace.topology.port_name(attempt.where)
                                    : trace.topology.node(attempt.where.node).name;
}

std::string_view name_of(Fate fate) {
  switch (fate) {
    case Fate::kInFlight: return "in_flight";
    case Fate::kDelivered: return "delivered";
    case Fate::kTrimmed: return "trimmed";
    case Fate::kDropped: return "dropped";
  }
  return "unknown";
}

void BoundedOutput::put(std::string_view piece, FabricTime t) {
  if (left_out_ > 0 || bytes_ + piece.size() > limit_) {
    complete_until_ = std::min(complete_until_, t);
    ++left_out_;
    return;
  }
  ++pieces_;
  finish(piece);
}

void BoundedOutput::finish(std::string_view piece) {
  out_.write(piece.data(), static_cast<std::streamsize>(piece.size()));
  bytes_ += piece.size();
}

}  // namespace mrclab::analysis
