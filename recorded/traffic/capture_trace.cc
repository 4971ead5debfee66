#include "recorded/traffic/capture_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/capture/cut_frame.h"
#include "analysis/capture/open_capture.h"
#include "analysis/capture/stream_file.h"
#include "analysis/frame/seen_headers.h"
#include "analysis/roce/roce_analyzer.h"
#include "console/terminal.h"
#include "fabric/packet/roce_frame.h"
#include "fabric/text/counted_noun.h"
#include "fabric/text/input_error.h"
#include "recorded/traffic/traffic_names.h"

namespace mrclab::lab {
namespace {

constexpr size_t kMostRecords = 1u << 18;
/// Two captures of one machine's clock begin within this; its seconds fit into FabricTime from there on.
constexpr int64_t kSlackSeconds = 3600;

/// A record with what decides whether it is about the queue pair.
struct Candidate {
  TracedRecord shown;
  Ipv6Address source{}, destination{};
  bool roce = false, answer = false;
};

std::string answer_text(const RoceFrame& f) {
  if (!f.syndrome || f.is_read_response()) return fmt::format("{} bytes", f.payload);
  switch (*f.syndrome >> 5) {
    case 0: return "all up to it have arrived";
    case 1: return "receiver not ready";
    default: break;
  }
  switch (*f.syndrome) {
    case 0x60: return "NAK: this one is missing";
    case 0x61: return "NAK: invalid request";
    case 0x62: return "NAK: remote access error";
    case 0x63: return "NAK: remote operational error";
    default: return fmt::format("NAK {:#04x}", *f.syndrome);
  }
}

std::string roce_text(const RoceFrame& f) {
  std::string text = f.transport() == IbtaTransport::kCnp ? ""
                     : f.is_response()                    ? answer_text(f)
                                                          : fmt::format("{} bytes", f.payload);
  if (f.dma_length) text += fmt::format(" of {}", *f.dma_length);
  if (f.cm) text += fmt::format(", {}", name_of_cm(f.cm->attribute));
  if (f.asks_ack) text += ", asks for an ACK";
  if (f.marked()) text += ", CE";
  return text;
}

class Search {
 public:
  Search(Qpn qp, std::optional<Psn> psn) : qp_(qp), psn_(psn), roce_({}) {}

  void add(analysis::CaptureReader& reader, const std::string& file) {
    analysis::CaptureRecord record;
    analysis::LinkLayer link;
    try {
      while (reader.next(record)) {
        const analysis::CaptureInterface& interface = reader.interfaces()[record.interface];
        analysis::WireEnd end = analysis::WireEnd::kUnknown;
        const auto ethernet = link.as_ethernet(record, interface.link_type, end);
        if (!ethernet) continue;
        take(analysis::without_void(*ethernet), *ethernet, record, end,
             interface.name.empty() ? file : interface.name, record.interface);
      }
    } catch (const analysis::CaptureError& error) {
      notes_.emplace_back(error.what());
    }
    ++file_;
  }

  CaptureTrace result() {
    const analysis::RoceTraffic traffic = roce_.finish();
    std::set<std::tuple<Ipv6Address, Ipv6Address, uint32_t>> about;
    for (const analysis::RoceFlow& f : traffic.flows) {
      const bool is_it = f.qp == qp_ || f.source_qp == qp_;
      if (is_it) about.emplace(f.source, f.destination, f.qp.value);
    }
    CaptureTrace trace;
    trace.notes = notes_;
    std::stable_sort(seen_.begin(), seen_.end(),
                     [](const Candidate& a, const Candidate& b) { return a.shown.t < b.shown.t; });
    const FabricTime from = seen_.empty() ? FabricTime::zero() : seen_.front().shown.t;
    for (Candidate& c : seen_) {
      const bool fits = c.roce ? about.contains(std::tuple(c.source, c.destination, c.shown.qp))
                               : c.shown.qp == qp_.value ||
                                     (c.answer && hosts_.contains({c.destination, c.source}) &&
                                      psns_.contains(c.shown.psn));
      if (!fits || (psn_ && c.shown.psn != psn_->value())) continue;
      c.shown.t = c.shown.t - from;
      trace.records.push_back(std::move(c.shown));
    }
    if (full_)
      trace.notes.push_back(fmt::format("only the first {} records were looked at", kMostRecords));
    return trace;
  }

 private:
  void take(std::span<const uint8_t> frame, std::span<const uint8_t> whole,
            const analysis::CaptureRecord& record, analysis::WireEnd end, const std::string& place,
            uint32_t interface) {
    if (seen_.size() >= kMostRecords) {
      full_ = true;
      return;
    }
    const auto trailer = analysis::trailer_of(whole);
    const FabricTime t = trailer ? trailer->end : record.t;
    Candidate c;
    c.shown.t = t;
    c.shown.place = place;
    if (frame.data() != whole.data()) c.shown.what = "lost on a wire: ";
    if (const std::optional<RoceFrame> f = roce_frame_in(frame)) {
      roce_.add({*f,
                 t,
                 file_ << 16 | interface,
                 static_cast<uint16_t>(file_),
                 end,
                 !c.shown.what.empty(),
                 {}});
      c.roce = true;
      c.shown.operation = opcode_text(f->opcode);
      c.shown.what += roce_text(*f);
      fill(c, f->source, f->destination, f->qp, f->psn);
      return;
    }
    analysis::CutFrame kept;
    if (kept.open(frame) != ParseError::kNone) return;
    const FrameView& packet = kept.view();
    const bool data = carries_data(packet.opcode());
    c.answer = !data;
    c.shown.operation = fmt::format("MRC {}", name_of(packet.opcode()));
    Psn psn = packet.psn();
    if (data) {
      c.shown.what += fmt::format("{} bytes{}{}", packet.payload_length(),
                                  packet.retransmission() ? ", again" : "",
                                  packet.trimmed() ? ", trimmed" : "");
      if (packet.destination_qp() == qp_) {
        psns_.insert(psn.value());
        hosts_.insert({packet.source(), packet.destination()});
      }
    } else {
      const analysis::SeenAnswer answer = analysis::answer_in(packet);
      psn = answer.kind == analysis::SeenAnswer::Kind::kNone ? psn : answer.trigger;
      c.shown.what += answer.kind == analysis::SeenAnswer::Kind::kNone
                          ? ""
                          : fmt::format("all up to {} have arrived", answer.cumulative.value());
    }
    if ((packet.traffic_class() & 3) == 3) c.shown.what += ", CE";
    fill(c, packet.source(), packet.destination(), packet.destination_qp(), psn);
  }

  void fill(Candidate& c, const Ipv6Address& source, const Ipv6Address& destination, Qpn qp,
            Psn psn) {
    c.source = source;
    c.destination = destination;
    c.shown.from = host_name(nullptr, source);
    c.shown.to = host_name(nullptr, destination);
    c.shown.qp = qp.value;
    c.shown.psn = psn.value();
    seen_.push_back(std::move(c));
  }

  Qpn qp_;
  std::optional<Psn> psn_;
  analysis::RoceAnalyzer roce_;
  std::vector<Candidate> seen_;
  std::set<uint32_t> psns_;
  std::set<std::pair<Ipv6Address, Ipv6Address>> hosts_;
  std::vector<std::string> notes_;
  uint32_t file_ = 0;
  bool full_ = false;
};

}  // namespace

CaptureTrace trace_of_captures(const std::vector<std::filesystem::path>& files, Qpn qp,
                               std::optional<Psn> psn) {
  Search search(qp, psn);
  try {
    int64_t base = INT64_MAX;
    for (const std::filesystem::path& path : files) {
      if (analysis::is_stream(path)) continue;
      const auto reader = analysis::open_capture(path, {.rebase = true, .wants_seal = false});
      analysis::CaptureRecord record;
      if (reader->next(record)) base = std::min(base, reader->base_seconds());
    }
    for (const std::filesystem::path& path : files) {
      analysis::CaptureOptions options;
      options.wants_seal = false;
      if (base != INT64_MAX && base > kSlackSeconds) options.base_seconds = base - kSlackSeconds;
      if (analysis::is_stream(path)) {
        analysis::StreamFile stream(path, {});
        options.rebase = !options.base_seconds;
        search.add(*stream.read(options), stream.name());
      } else {
        search.add(*analysis::open_capture(path, options), path.filename().string());
      }
    }
  } catch (const analysis::CaptureError& error) {
    throw InputError(error.what());
  }
  CaptureTrace trace = search.result();
  if (trace.records.empty()) {
    throw InputError(
        fmt::format("found no record of QP {:#x}{} in the captures: mrclab analyze lists "
                    "the queue pairs, with --section queue_pairs or flows",
                    qp.value, psn ? fmt::format(" with PSN {}", psn->value()) : ""));
  }
  return trace;
}

std::string to_text(const CaptureTrace& trace, size_t rows_max) {
  std::vector<std::vector<std::string>> rows{{"at", "place", "from", "to", "QP", "PSN", "what"}};
  for (size_t i = 0; i < std::min(rows_max, trace.records.size()); ++i) {
    const TracedRecord& r = trace.records[i];
    rows.push_back({fmt::format("{:.3f}us", r.t.us()), r.place, r.from, r.to,
                    fmt::format("{:#x}", r.qp), std::to_string(r.psn),
                    r.operation + (r.what.empty() ? "" : ": ") + r.what});
  }
  std::string text = table(rows);
  if (trace.records.size() > rows_max) {
    text += fmt::format("... and {} more: --rows, or --psn\n", trace.records.size() - rows_max);
  }
  for (const std::string& note : trace.notes) text += note + "\n";
  return text;
}

nlohmann::ordered_json to_json(const CaptureTrace& trace) {
  auto records = nlohmann::ordered_json::array();
  for (const TracedRecord& r : trace.records) {
    records.push_back({{"t_ns", static_cast<double>(r.t.ps()) * 1e-3},
                       {"place", r.place},
                       {"from", r.from},
                       {"to", r.to},
                       {"qp", r.qp},
                       {"psn", r.psn},
                       {"operation", r.operation},
                       {"what", r.what}});
  }
  return {{"records", records}, {"notes", trace.notes}};
}

}  // namespace mrclab::lab
