// trace, blame.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <memory>

#include "analysis/blame/blame_text.h"
#include "console/indented_lines.h"
#include "console/json_print.h"
#include "console/progress.h"
#include "console/root_rights.h"
#include "fabric/text/counted_noun.h"
#include "fabric/topology/fabric_file.h"
#include "lab/persistent/lab_choice.h"
#include "lab/verbs/cli.h"
#include "live/inspect/ordinary_trace.h"
#include "plan/ecmp_view.h"
#include "plan/fare_view.h"
#include "plan/path_trace.h"
#include "recorded/folder/run_folder.h"
#include "recorded/run/blame_run.h"
#include "recorded/run/packet_trace.h"
#include "recorded/traffic/capture_blame.h"
#include "recorded/traffic/capture_trace.h"
#include "recorded/traffic/traffic_input.h"
#include "scenario/spec/scenario.h"
#include "scenario/spec/shipped_files.h"

namespace mrclab::lab {
namespace {

struct TraceOptions {
  std::vector<std::string> words;
  std::string qp, psn, ev;
  std::optional<std::string> host, to, fabric, lab;
  std::optional<uint32_t> attempt;
  EcmpQuestion ecmp;
  bool as_json = false;
};

/// QPNs and PSNs have 24 bits.
uint32_t number_of_24_bits(const char* option, const std::string& text) {
  const bool hexadecimal = text.starts_with("0x");
  const char* begin = text.data() + (hexadecimal ? 2 : 0);
  const char* end = text.data() + text.size();
  uint32_t value = 0;
  const auto [stopped, error] = std::from_chars(begin, end, value, hexadecimal ? 16 : 10);
  if (error == std::errc{} && stopped == end && value <= Psn::kMask) return value;
  throw InputError(fmt::format("{}: found {}: expected a number of 24 bits, such as 345 or 0x159",
                               option, in_quotes(text)));
}

bool looks_like_address(const std::string& word) { return parse_address(word).has_value(); }

int print_trace(const TraceOptions& options, const nlohmann::ordered_json& values,
                const std::string& text) {
  fmt::print("{}", options.as_json ? printed(values, "trace") + "\n" : text);
  return 0;
}

/// All records about a queue pair, of a run's captures or of any others.
int trace_capture(const TraceOptions& options) {
  constexpr size_t kRows = 200;
  TrafficWords words;
  words.sources = options.words;
  const TrafficRequest request =
      while_ticking("reading", "the captures", [&] { return traffic_request(words); });
  const Qpn qp{number_of_24_bits("--qp", options.qp)};
  std::optional<Psn> psn;
  if (!options.psn.empty()) psn = Psn{number_of_24_bits("--psn", options.psn)};
  const CaptureTrace trace = while_ticking(
      "tracing", "the captures", [&] { return trace_of_captures(request.input.files, qp, psn); });
  return print_trace(options, to_json(trace), to_text(trace, kRows));
}

int trace_packet(const TraceOptions& options) {
  if (options.words.size() != 1) {
    throw InputError(fmt::format("found {} words with --qp: expected one run folder, or latest",
                                 options.words.size()));
  }
  const std::string& word = options.words.front();
  // Without a fabric to place them by, records are listed as they stand in the captures.
  const bool file = word == "-" || !std::filesystem::is_directory(named_run(word));
  const bool listed = options.psn.empty() || (file && !options.fabric && !options.host);
  if (listed) return trace_capture(options);
  TraceRequest request;
  request.qp = Qpn{number_of_24_bits("--qp", options.qp)};
  request.psn = Psn{number_of_24_bits("--psn", options.psn)};
  request.host = options.host;
  request.to = options.to;
  request.attempt = options.attempt;
  const std::string& run = options.words.front();
  const PacketTrace trace = while_ticking(
      "tracing", evidence_text(run), [&] { return PacketTrace(run, options.fabric, request); });
  return print_trace(options, to_json(trace), to_text(trace));
}

int trace_hash(const TraceOptions& options, const Topology& topology) {
  if (options.words.size() != 3) {
    throw InputError("\"ecmp\": expected two hosts behind it, such as h0 h5");
  }
  EcmpQuestion question = options.ecmp;
  question.from = options.words[1];
  question.to = options.words[2];
  const auto explained = explain_ecmp(topology, question);
  return print_trace(options, explained, ecmp_text(explained));
}

int trace_fare(const TraceOptions& options, const Topology& topology) {
  if (options.words.size() != 3) {
    throw InputError("\"fare\": expected two hosts behind it, such as h0 h5");
  }
  const auto explained =
      explain_fare(topology, {options.words[1], options.words[2], options.ecmp.down});
  return print_trace(options, explained, fare_text(explained));
}

/// The lab that the words mean; empty if its kernels cannot be asked, and the
/// fabric as built is shown.
std::optional<LabRecord> lab_of(const TraceOptions& options) {
  if (options.lab) return choose_lab(options.lab);
  if (options.fabric || ::geteuid() != 0 || recorded_labs({}).empty()) return std::nullopt;
  const LabRecord only = choose_lab({});
  return state_of(only) == "up" ? std::optional(only) : std::nullopt;
}

int trace_ordinary(const TraceOptions& options) {
  if (options.lab) require_root("trace --lab");
  const std::optional<LabRecord> lab = lab_of(options);
  const Topology topology =
      read_fabric_file(lab ? LabPaths{}.lab_directory(lab->lab) / "fabric.yaml"
                           : find_fabric(options.fabric.value_or("octet")));
  const auto ordinary = explain_ordinary(topology, options.words[0], options.words[1], lab);
  return print_trace(options, ordinary, ordinary_trace_text(ordinary));
}

bool looks_like_host(const std::string& word) {
  return word.size() > 1 && word[0] == 'h' &&
         word.find_first_not_of("0123456789", 1) == std::string::npos;
}

int trace_command(const TraceOptions& options) {
  if (!options.qp.empty()) return trace_packet(options);
  if (!options.psn.empty()) throw InputError("--psn: expected --qp beside it");
  std::vector<std::string> words = options.words;
  if (!options.ev.empty()) words.insert(words.begin(), options.ev);
  if (words.empty()) {
    throw InputError("expected a run with --qp and --psn, a path and two hosts, or a carrier");
  }
  if (words.size() == 2 && looks_like_host(words[0]) && looks_like_host(words[1])) {
    return trace_ordinary(options);
  }
  const Topology topology = read_fabric_file(find_fabric(options.fabric.value_or("octet")));
  if (words.size() == 1 && looks_like_address(words.front())) {
    const auto carrier = explain_carrier(topology, words.front());
    print_trace(options, carrier, carrier_trace_text(carrier));
    return carrier.at("exists").get<bool>() ? 0 : 1;
  }
  if (words.front() == "ecmp") return trace_hash(options, topology);
  if (words.front() == "fare") return trace_fare(options, topology);
  const Path path = parse_path_or_ev(words.front());
  if (words.size() != 3) {
    throw InputError(
        fmt::format("{}: expected two hosts behind it, such as h0 h5", in_quotes(words.front())));
  }
  const auto explained = explain_path(topology, path, words[1], words[2]);
  return print_trace(options, explained, path_trace_text(explained));
}

/// Where nothing is blamed, it lists what was lost all the same.
std::string blame_text(const BlamedRun& run) {
  if (run.blames.empty()) {
    const auto packets = [](uint64_t count) {
      return counted_noun(count, {"packet was", "packets were"});
    };
    std::string text = "nothing to blame\n";
    if (run.congested + run.lost_otherwise == 0) text += indented_lines("no packet was lost");
    if (run.congested > 0) {
      text += indented_lines(packets(run.congested) +
                             " dropped by queues that had no room, which is congestion");
    }
    if (run.lost_otherwise > 0 && run.not_told.empty()) {
      text += indented_lines(packets(run.lost_otherwise) +
                             " lost otherwise, too few or too scattered to find the cause");
    }
    if (!run.not_told.empty()) text += indented_lines(run.not_told);
    return text;
  }
  std::string text;
  for (const analysis::Blame& blame : run.blames) {
    text += headline(blame) + "\n" + indented_lines(blame.evidence);
    if (!blame.noticed.empty()) text += indented_lines("noticed: " + blame.noticed);
    for (const std::string& other : blame.or_else) text += indented_lines("or " + other);
  }
  if (!run.not_told.empty()) text += "beside these\n" + indented_lines(run.not_told);
  return text;
}

bool is_capture(const std::string& word) {
  return word == "-" || (std::filesystem::exists(word) && !std::filesystem::is_directory(word));
}

/// Captures from anywhere: by the places where they stood.
int blame_captures_command(const std::vector<std::string>& files, bool as_json) {
  TrafficWords words;
  words.sources = files;
  TrafficRequest request = traffic_request(words);
  std::vector<CaptureBlame> blames;
  try {
    blames = while_ticking("blaming", "the captures", [&] {
      return blame_of_captures(analysis::analyze_traffic(request.input));
    });
  } catch (const analysis::CaptureError& error) {
    throw InputError(error.what());
  }
  auto list = nlohmann::ordered_json::array();
  std::string text;
  for (const CaptureBlame& blame : blames) {
    list.push_back(to_json(blame));
    text += blame.what + " " + blame.symptom + "\n" + indented_lines(blame.evidence);
  }
  if (as_json) {
    fmt::print("{}\n", printed(list, "blame"));
  } else {
    fmt::print("{}", text.empty() ? "nothing to blame\n" : text);
  }
  return blames.empty() ? 0 : 1;
}

int blame_command(const std::vector<std::string>& words, bool as_json) {
  if (std::all_of(words.begin(), words.end(), is_capture)) {
    return blame_captures_command(words, as_json);
  }
  if (words.size() > 1) throw InputError("found several words: expected one run, or capture files");
  const std::string& run = words.front();
  const BlamedRun blamed =
      while_ticking("blaming", evidence_text(run), [&] { return blame_of_run(run); });
  if (as_json) {
    auto list = nlohmann::ordered_json::array();
    for (const analysis::Blame& blame : blamed.blames) list.push_back(to_json(blame));
    fmt::print("{}\n", printed(list, "blame"));
  } else {
    fmt::print("{}", blame_text(blamed));
  }
  return blamed.blames.empty() ? 0 : 1;
}

}  // namespace

void add_blame_verb(CLI::App& app, CliResult& result) {
  auto run = std::make_shared<std::vector<std::string>>();  // shared with the callback
  auto as_json = std::make_shared<bool>(false);
  CLI::App* blame = add_verb(app, "blame");
  blame->add_option("RUN", *run, "a run folder, or latest; or capture files, - for a pipe")
      ->required();
  blame->add_flag("--json", *as_json, "as JSON");
  blame->footer(
      "The fault schedule is not looked at. Exit code 0: nothing to blame; 1: something is.\n"
      "Example: mrclab blame latest\n"
      "         mrclab blame h0.pcap h1.pcap");
  blame->callback([run, as_json, &result] { result.code = blame_command(*run, *as_json); });
}

void add_trace_verb(CLI::App& app, CliResult& result) {
  auto options = std::make_shared<TraceOptions>();  // shared with the callback
  CLI::App* trace = add_verb(app, "trace");
  trace->add_option(
      "WHAT", options->words,
      "a run folder or latest, or a capture; a path and two hosts; a carrier; ecmp or fare and "
      "two hosts; or two hosts: the ways of ordinary traffic");
  trace->add_option("--qp", options->qp, "queue pair, as the packet or its sender calls it");
  trace->add_option("--psn", options->psn,
                    "packet sequence number; without it all records about the queue pair");
  trace->add_option("--host", options->host, "the sending host, where a QP number is ambiguous");
  trace->add_option("--to", options->to, "likewise the receiving host");
  trace->add_option("--attempt", options->attempt, "only this transmission, from 1")
      ->check(CLI::PositiveNumber);
  trace->add_option("--ev", options->ev, "an entropy value, in place of a path");
  trace->add_option("--evs", options->ecmp.evs, "ecmp: entropy values of the queue pair (256)")
      ->check(CLI::Range(1, 16'384));
  trace->add_option("--seed", options->ecmp.seed, "ecmp: the run's, which draws them (1)")
      ->check(CLI::Range(uint64_t{0}, kMaxSeed));
  trace->add_option("--down", options->ecmp.down, "ecmp, fare: what moves without this link");
  trace->add_option("--fabric", options->fabric, "of paths, carriers, captures (default: octet)");
  trace->add_option("--lab", options->lab, "two hosts: of this lab (default: the only one)");
  trace->add_flag("--json", options->as_json, "as JSON");
  trace->footer(
      "Exit code 1: the fabric lacks what the carrier names.\n"
      "Reports and mrclab analyze name queue pairs and PSNs.\n"
      "Example: mrclab run link-flap --world sim\n"
      "         mrclab trace --qp 0x8b4002 --psn 5717043 latest\n"
      "         mrclab trace --qp 0x12 other.pcap\n"
      "         mrclab trace p3/u1 h0 h5\n"
      "         sudo mrclab trace h0 h5\n"
      "         mrclab trace 5f00:0:2300:1301:2301:e301::\n"
      "         mrclab trace ecmp h0 h5 --fabric ecmp-octet --down p1.t0-0:u2\n"
      "         mrclab trace fare h0 h5 --fabric fare --down p1.t0-0:u2");
  trace->callback([options, &result] { result.code = trace_command(*options); });
}

}  // namespace mrclab::lab
