#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>

#include "analysis/capture/stream_file.h"
#include "console/interrupt.h"
#include "console/json_print.h"
#include "console/progress.h"
#include "console/terminal.h"
#include "fabric/text/yaml.h"
#include "lab/verbs/cli.h"
#include "recorded/traffic/traffic_input.h"
#include "recorded/traffic/traffic_report.h"

namespace mrclab::lab {
namespace {

constexpr size_t kBriefRows = 10;

struct AnalyzeOptions {
  TrafficWords words;
  std::vector<std::string> sections;
  size_t rows = 0;
  bool as_json = false, as_csv = false;
};

std::string all_sections() { return fmt::format("{}", fmt::join(traffic_sections(), ", ")); }

/// The tables that were asked for; without a wish those that a first look needs.
std::vector<TrafficTable> chosen(std::vector<TrafficTable> tables, const AnalyzeOptions& options) {
  const std::vector<std::string> known = traffic_sections();
  for (const std::string& name : options.sections) {
    if (name == "all" || std::find(known.begin(), known.end(), name) != known.end()) continue;
    throw InputError("--section: found " + in_quotes(name) + ": expected all, " + all_sections());
  }
  if (options.sections.empty() && options.as_json) return tables;
  const auto asked = [&options](const std::string& name) {
    return std::find(options.sections.begin(), options.sections.end(), name) !=
           options.sections.end();
  };
  std::erase_if(tables, [&](const TrafficTable& table) {
    return options.sections.empty() ? !table.brief : !asked("all") && !asked(table.name);
  });
  return tables;
}

void print_csv(const std::vector<TrafficTable>& tables) {
  for (size_t i = 0; i < tables.size(); ++i) {
    if (tables.size() > 1) fmt::print("{}# {}\n", i == 0 ? "" : "\n", tables[i].name);
    fmt::print("{}", to_csv(tables[i]));
  }
}

void print_tables(const std::vector<TrafficTable>& tables, const AnalyzeOptions& options) {
  const size_t brief = options.sections.empty() ? kBriefRows : SIZE_MAX;
  const size_t rows = options.rows > 0 ? options.rows : brief;
  for (size_t i = 0; i < tables.size(); ++i) {
    if (i > 0) fmt::print("\n");
    fmt::print("{}", to_text(tables[i], rows));
  }
}

int analyze_command(const AnalyzeOptions& options) {
  TrafficRequest request = while_ticking("checking", "whether the files are as the run left them",
                                         [&] { return traffic_request(options.words); });
  Progress progress("analyzing");
  request.input.progress = [&progress](uint64_t records) {
    progress.show({}, fmt::format("{:.1f} million records", static_cast<double>(records) * 1e-6));
  };
  // Ctrl-C ends a pipe, and not the analysis of what has come through it.
  std::optional<InterruptGuard> guard;
  const auto& files = request.input.files;
  if (std::any_of(files.begin(), files.end(), analysis::is_stream)) {
    guard.emplace();
    request.input.interrupted = guard->question();
    request.input.progress = nullptr;  // packets of a pipe may be few, and Progress has one thread
    const auto start = std::chrono::steady_clock::now();
    request.input.arrived = [&progress, start](uint64_t bytes) {
      const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
      progress.show({}, fmt::format("{:.0f} kB have come in {:.0f} s; Ctrl-C shows what they hold",
                                    static_cast<double>(bytes) * 1e-3, time.count()));
    };
  }
  const analysis::Traffic traffic = analysis::analyze_traffic(request.input);
  progress.clear();
  if (traffic.counters.roce > 0) {
    while_ticking("reading", "RC over RoCEv2 in the captures", [&] { add_rc(traffic, request); });
  }
  const std::vector<TrafficTable> tables =
      chosen(traffic_tables(traffic, request.context), options);
  if (options.as_json) {
    fmt::print("{}\n", printed(to_json(tables), "analysis"));
  } else if (options.as_csv) {
    print_csv(tables);
  } else {
    print_tables(tables, options);
  }
  return 0;
}

/// What the user may state about the format of foreign packets. The rest is learned from them.
void add_format_options(CLI::App& analyze, TrafficWords& words) {
  const char* group = "Captures of other people's MRC";
  analyze.add_option("--block", words.block, "the carriers' block: fc00:42::/32")->group(group);
  analyze.add_option("--usid-length", words.usid_length, "16 or 32 bits")->group(group);
  analyze
      .add_option("--ev-format", words.ev_format,
                  "what names a path: port, label, port+label, label+port or carrier; and which "
                  "bits of it the plane: port:plane=15-8 (of a carrier 0 is the first bit)")
      ->group(group);
  analyze
      .add_option("--captured-at", words.captured_at,
                  "sender, receiver, switch, or the host on whose ports")
      ->group(group);
  analyze.add_option("--format", words.format_file, "a YAML file with these four")->group(group);
}

}  // namespace

void add_analyze_verb(CLI::App& app, CliResult& result) {
  auto options = std::make_shared<AnalyzeOptions>();  // shared with the callback
  TrafficWords& words = options->words;
  CLI::App* analyze = add_verb(app, "analyze");
  analyze
      ->add_option("FILE", words.sources,
                   "pcap or pcapng, also compressed; - for a pipe; or a run folder, or latest")
      ->required();
  analyze->add_option("--fabric", words.fabric, "a fabric's name or file, for names");
  analyze->add_option(
      "--dscp", words.dscps,
      "the meaning of DSCPs, where no fabric has it: trimmed=20,trimmed_last_hop=24");
  analyze->add_option("--qp", words.qp, "only the flow to this queue pair, and its answers");
  analyze->add_option("--ev", words.ev, "only this path: p3/u1, or an entropy value");
  analyze->add_option("--plane", words.plane, "only this plane: p2, or A where it has no number");
  analyze->add_option("--between", words.between, "only two hosts: h0 h5, or addresses")
      ->expected(2);
  analyze->add_option("--from", words.from, "only from this time on: 300us");
  analyze->add_option("--until", words.until, "only before this time");
  add_format_options(*analyze, words);
  analyze->add_option("--section", options->sections, "all, or some of: " + all_sections())
      ->delimiter(',');
  analyze->add_option("--rows", options->rows, "of each table; default 10, with --section all");
  auto* json = analyze->add_flag("--json", options->as_json, "as JSON");
  analyze->add_flag("--csv", options->as_csv, "as CSV")->excludes(json);
  analyze->footer(
      "Example: mrclab analyze latest\n"
      "         tcpdump -i eth0 -w - | mrclab analyze -\n"
      "         mrclab analyze other.pcap --captured-at sender --ev-format port:plane=15-8\n"
      "         mrclab analyze p0.pcap.zst p1.pcap.zst --fabric octet --section evs");
  analyze->callback([options, &result] {
    try {
      result.code = analyze_command(*options);
    } catch (const analysis::CaptureError& error) {
      throw InputError(error.what());
    }
  });
}

}  // namespace mrclab::lab
