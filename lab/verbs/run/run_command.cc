#include "lab/verbs/run/run_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "analysis/checks/check_result.h"
#include "analysis/report/regression.h"
#include "analysis/report/summary.h"
#include "console/interrupt.h"
#include "console/progress.h"
#include "console/stopwatch.h"
#include "console/terminal.h"
#include "fabric/text/input_file.h"
#include "fabric/text/visible_text.h"
#include "netio/system/file_descriptor.h"
#include "netio/system/system_error.h"
#include "recorded/counters/series_files.h"
#include "recorded/diff/recorded_run.h"
#include "recorded/diff/run_table.h"
#include "scenario/spec/idle_options.h"
#include "scenario/spec/program_consent.h"
#include "scenario/spec/queue_pairs.h"
#include "scenario/spec/scenario_document.h"
#include "telemetry/counter_series.h"

namespace mrclab::lab {
namespace {

constexpr int kInterruptedCode = 3;

CaptureScope capture_scope(const std::string& option, const std::string& word) {
  if (word == "hosts") return CaptureScope::kHosts;
  if (word == "all") return CaptureScope::kAll;
  if (word == "none") return CaptureScope::kNone;
  throw InputError(option + ": found \"" + word + "\"; expected hosts, all or none");
}

uint64_t size_option(const std::string& option, const std::string& word) {
  return read_yaml_text(in_quotes(word), option).as_bytes().value;
}

uint64_t history_bytes(const std::string& word) {
  if (word == "records") return kHistoryBytesDefault;
  if (word == "digest") return 0;
  return size_option("--history", word);
}

ScenarioOverrides overrides_of(const RunCommandOptions& options) {
  ScenarioOverrides overrides;
  overrides.seed = options.seed;
  overrides.fabric = options.fabric;
  for (const Forwarding by : kForwardings) {
    if (options.forwarding == name_of(by)) overrides.forwarding = by;
  }
  overrides.until = options.until;
  overrides.dilation = options.dilation;
  overrides.without = options.without;
  if (options.world == World::kSim) overrides.max_nodes = kMaxSimulatedNodes;
  if (options.payload) overrides.payload_elided = *options.payload == "elided";
  if (options.captures) overrides.captures = capture_scope("--captures", *options.captures);
  if (options.taps) overrides.taps = capture_scope("--taps", *options.taps);
  return overrides;
}

/// One scenario has one baseline. Throws InputError for a file that is no verdict, and for a
/// tolerance of no metric.
std::optional<analysis::BaselineCheck> read_against(const RunCommandOptions& options) {
  if (!options.against) {
    if (options.tolerances.empty()) return std::nullopt;
    throw InputError("--tolerance: expected --against BASELINE.json beside it");
  }
  if (options.scenarios.size() != 1) {
    throw InputError("--against: found " + std::to_string(options.scenarios.size()) +
                     " scenarios: expected one, whose verdict the file is");
  }
  require_input_file(*options.against);
  try {
    analysis::BaselineCheck against{analysis::read_stored_verdict(
        netio::read_file(*options.against, analysis::kBaselineMax), visible(*options.against))};
    for (const std::string& text : options.tolerances) set_tolerance(text, against.tolerances);
    return against;
  } catch (const netio::SystemError& error) {
    throw InputError(std::string("--against: ") + error.what());
  }
}

bool on_terminal(std::FILE* stream) { return ::isatty(::fileno(stream)) == 1; }

double plane_gbps(const Topology& topology) {
  return static_cast<double>(topology.host_rate.bps) * topology.host_count() / 1e9;
}

std::string times_line(const RunResult& result, World world) {
  if (world == World::kSim) {
    return fmt::format("time       simulated in {:.1f} s, judged in {:.1f} s\n", result.run_seconds,
                       result.analyze_seconds);
  }
  return fmt::format(
      "time       up in {:.2f} s, ran {:.1f} s, down in {:.2f} s, judged in {:.1f} s\n",
      result.bring_up_seconds, result.run_seconds, result.tear_down_seconds,
      result.analyze_seconds);
}

void print_result(const RunResult& result, const RunCommandOptions& options,
                  const std::optional<analysis::BaselineCheck>& against) {
  const analysis::TableOptions table{.width = table_columns(stdout),
                                     .colour = wants_colour(stdout)};
  fmt::print("\n{}{}", analysis::to_table(result.verdict, table),
             times_line(result, options.world));
  fmt::print("disk       {} in {}\n", byte_text(folder_bytes(result.folder)),
             result.folder.path.string());
  if (result.comparison) {
    fmt::print("{}", analysis::to_table(*result.comparison, against->baseline, table));
  }
  fmt::print("{}", analysis::to_summary(
                       result.verdict,
                       {result.seconds, (result.folder.path / "report.html").string()}, table));
  std::fflush(stdout);  // a signal may end the process at once in the next run
}

RunResult run_one(const Scenario& scenario, const RunCommandOptions& options,
                  const std::optional<analysis::BaselineCheck>& against, InterruptGuard& guard) {
  ProgressView view(stderr, on_terminal(stderr),
                    fmt::format("mrclab: {} on {}, {}, seed {}", scenario.name,
                                scenario.topology.name, name_of(options.world), scenario.seed),
                    plane_gbps(scenario.topology));
  RunOptions run = run_options(options);
  if (options.verbose) {
    run.tell = [start = std::chrono::steady_clock::now()](const std::string& what) {
      fmt::print(stderr, "mrclab: {:8.3f} s  {}\n", seconds_since(start), visible(what));
    };
  }
  run.against = against;
  run.view = &view;
  run.progress = true;
  // What is too large to be followed whole is neither simulated twice nor recorded, unless a size is given.
  const bool large = !scenario.follow.empty();
  run.state_cost = !options.no_cost && !large;
  if (large && options.history == "records") run.history_bytes = 0;
  end_on_interrupt(guard, run);
  std::optional<FabricTime> step;
  if (options.series) {
    step = parse_instant(*options.series, scenario.topology, FabricTime(), &scenario);
    telemetry::CounterSeries(scenario.topology, *step).reach(scenario.stop());  // refused now
  }
  RunResult result = run_scenario(scenario, run);
  if (step) {
    write_series(read_run(result.folder.path), *step);
    give_to_invoking_user(result.folder);
  }
  return result;
}

void print_summary(const std::vector<Scenario>& scenarios, const std::vector<RunResult>& results,
                   std::chrono::duration<double> wall) {
  std::vector<RunRow> rows;
  for (size_t i = 0; i < results.size(); ++i) {
    rows.push_back({scenarios[i].ids, &results[i].verdict});
  }
  fmt::print("\n{}", run_table(rows, wall));
}

/// An object for one scenario, a list for several.
void print_json(const std::vector<RunResult>& results, size_t scenarios) {
  if (scenarios == 1) {
    fmt::print("{}\n", analysis::to_json(results.front().verdict));
    return;
  }
  fmt::print("[\n");
  for (size_t i = 0; i < results.size(); ++i) {
    fmt::print("{}{}\n", analysis::to_json(results[i].verdict), i + 1 < results.size() ? "," : "");
  }
  fmt::print("]\n");
}

}  // namespace

Scenario load_for_run(const RunCommandOptions& options, size_t scenario,
                      const std::vector<SetValue>& sets, std::optional<uint64_t> seed) {
  const std::string& name = options.scenarios[scenario];
  ScenarioOverrides overrides = overrides_of(options);
  overrides.sets = sets;
  if (seed) overrides.seed = seed;
  Scenario loaded = load_scenario(name, overrides);
  if (options.transport)
    loaded = under_transport(loaded, find_contrast(loaded, *options.transport));
  const std::filesystem::path file = find_scenario(name);
  if (is_somebody_elses(file)) require_consent(loaded, file, options.programs);
  return loaded;
}

RunOptions run_options(const RunCommandOptions& options) {
  RunOptions run;
  run.world = options.world;
  run.runs_root = options.out;
  run.isolate = options.isolate;
  run.realtime = options.realtime;
  if (options.capture_size)
    run.capture_bytes = size_option("--capture-size", *options.capture_size);
  run.history_bytes = history_bytes(options.history);
  run.threads = options.threads;
  run.ranks = options.ranks;
  return run;
}

int run_command(const RunCommandOptions& options) {
  if (options.world == World::kSim && options.forwarding.value_or("switchd") != "switchd") {
    throw InputError(
        "--forwarding: found " + in_quotes(*options.forwarding) +
        " beside --world sim: expected --world live: the simulator has our switches only");
  }
  const std::optional<analysis::BaselineCheck> against = read_against(options);
  std::vector<SetValue> sets;
  for (const std::string& set : options.sets) sets.push_back(read_set(set).front());
  std::vector<Scenario> scenarios;
  for (size_t i = 0; i < options.scenarios.size(); ++i) {
    scenarios.push_back(load_for_run(options, i, sets, {}));
    note_idle_options(scenarios.back());
  }
  InterruptGuard guard;
  const auto start = std::chrono::steady_clock::now();
  std::vector<RunResult> results;
  int code = 0;
  std::string interrupted;
  std::shared_ptr<const void> memory;  // held until the process ends
  for (const Scenario& scenario : scenarios) {
    try {
      results.push_back(run_one(scenario, options, against, guard));
    } catch (const Interrupted& why) {
      interrupted = why.what();
      memory = why.memory();
      break;
    }
    code = analysis::worse_exit_code(code, analysis::exit_code(results.back().verdict.result));
    if (!options.json) print_result(results.back(), options, against);
    interrupted = results.back().interrupted;
    if (!interrupted.empty()) break;
  }
  if (options.json && !results.empty()) print_json(results, scenarios.size());
  if (!options.json && results.size() > 1)
    print_summary(scenarios, results, std::chrono::steady_clock::now() - start);
  if (interrupted.empty()) return code;
  fmt::print(stderr, "mrclab: {}\n", interrupted);
  std::fflush(nullptr);
  code = analysis::worse_exit_code(code, kInterruptedCode);
  if (options.ranks != nullptr) return code;  // the other ranks get it first
  ::_exit(code);  // giving gigabytes back piece by piece would take seconds
}

int demo_command(const std::filesystem::path& out) {
  fmt::print(
      "Eight planes, 48 switches, 8 hosts; every link is a veth, every packet is real.\n"
      "A ring all-reduce runs over MRC while the transceiver p0.t0-0:o0 glitches and\n"
      "its four host links flap. Times and rates are those of the modelled hardware.\n\n");
  RunCommandOptions options;
  options.scenarios = {"optic-glitch"};
  options.out = out;
  return run_command(options);
}

}  // namespace mrclab::lab
