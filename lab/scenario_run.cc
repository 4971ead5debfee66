#include "lab/scenario_run.h"

#include <fmt/format.h>

#include <chrono>

#include "analysis/analyze.h"
#include "analysis/more_checks.h"
#include "lab/interrupt.h"
#include "lab/live_run.h"
#include "lab/progress.h"
#include "lab/run_inputs.h"
#include "lab/run_manifest.h"
#include "lab/run_taps.h"
#include "lab/stopwatch.h"
#include "lab/world_outcome.h"
#include "netio/file_descriptor.h"
#include "netio/schedule_file.h"
#include "netio/system_error.h"

namespace mrclab::lab {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// Shows how far the simulation is, and what it takes on the disk.
void show_simulated(const Scenario& scenario, const RunFolder& folder, FabricTime now,
                    Progress& progress) {
  if (!progress.due()) return;
  const double done = static_cast<double>(now.ps()) / static_cast<double>(scenario.stop().ps());
  const uint64_t bytes = folder_bytes(folder);
  std::string text = fmt::format("{} of {}, {} on disk", to_string(now), to_string(scenario.stop()),
                                 byte_text(bytes));
  std::error_code unknown;
  const auto space = std::filesystem::space(folder.path, unknown);
  const double to_come = done > 0 ? static_cast<double>(bytes) * (1 - done) / done : 0;
  if (!unknown && to_come > static_cast<double>(space.available)) {
    text += fmt::format(" and only {} free", byte_text(space.available));
  }
  progress.show(done, text);
}

/// Leaves `evidence` empty if several threads run, because watching takes a single one.
WorldOutcome run_sim(const Scenario& scenario, const RunOptions& options, const RunFolder& folder,
                     RunResult& result, std::optional<analysis::Evidence>& evidence) {
  WorldOutcome outcome;
  const uint32_t threads =
      options.threads != 0 ? options.threads : default_threads(scenario, options.history_bytes);
  if (threads == 1) {
    evidence.emplace(scenario.topology, scenario.schedule, scenario.stop(),
                     watched_at_switches(scenario));
  }
  const auto start = SteadyClock::now();
  std::optional<FabricTime> interrupted_at;
  {
    Progress progress("simulating");
    outcome = run_simulated(scenario, folder,
                            {.history_bytes = options.history_bytes,
                             .threads = threads,
                             .evidence = evidence ? &*evidence : nullptr},
                            [&](FabricTime now) {
                              if (options.interrupted && options.interrupted())
                                interrupted_at = now;
                              if (options.progress) show_simulated(scenario, folder, now, progress);
                              return !interrupted_at;
                            });
  }
  result.run_seconds = seconds_since(start);
  if (interrupted_at) throw InterruptedAt(interrupted_at);
  if (evidence) evidence->finish();
  return outcome;
}

void write_scenario(const Scenario& scenario, const RunFolder& folder) {
  write_resolved_scenario(scenario, folder.path / "scenario.yaml");
  write_fault_schedule(scenario.schedule, scenario.topology, folder.path / "faults.jsonl");
  netio::write_schedule_file({scenario.schedule}, folder.path / "schedule.txt");
}

/// What no world can do is said before a folder is made.
void check_options(const Scenario& scenario, const RunOptions& options) {
  if (scenario.end == FabricTime::never()) {
    throw InputError(scenario.name +
                     ": found \"end: never\": expected an instant; only a lab of "
                     "'mrclab up' goes on without end");
  }
  if (options.world == World::kLive && scenario.payload_elided) {
    throw InputError(scenario.name + ": found \"payload: elided\": expected real, or --world sim");
  }
  if (options.world == World::kSim && !scenario.programs.empty()) {
    throw InputError(scenario.name + ": found \"exec\": expected --world live: a program needs " +
                     "namespaces and this machine's time");
  }
  check_taps(scenario);
  if (options.threads <= 1) return;
  if (options.world == World::kLive) {
    throw InputError("--threads: expected --world sim beside it");
  }
  if (scenario.captures != CaptureScope::kNone || options.history_bytes > 0) {
    throw InputError(
        "--threads: expected --captures none and --history digest beside it: files of packets are "
        "written by one thread");
  }
}

/// The user's own checks see the run as it lies there, judged but for themselves.
void run_check_programs(const Scenario& scenario, const RunOptions& options,
                        const RunFolder& folder, analysis::Verdict& verdict) {
  for (size_t i = 0; i < scenario.check_programs.size(); ++i) {
    add_check(verdict,
              run_check_program(scenario.check_programs[i], folder.path, i, options.interrupted));
  }
}

/// Gives the folder to the user who called with sudo, at the end of the run however it ends.
struct HandOver {
  RunFolder folder;
  ~HandOver() { give_to_invoking_user(folder); }
};

void write_results(const RunFolder& folder, const analysis::Analysis& analysis) {
  for (const analysis::ResultFile& file : analysis::result_files(folder.path, analysis)) {
    netio::write_file(folder.path / file.name, file.text);
  }
}

/// Notes in the folder that the run was interrupted at the instant `at`, or before it began, and
/// throws that on to the user.
[[noreturn]] void keep_unjudged(const Scenario& scenario, const RunFolder& folder,
                                std::optional<FabricTime> at) {
  const std::string where =
      at ? fmt::format("interrupted at {} of {}", to_string(*at), to_string(scenario.stop()))
         : std::string("interrupted before it began");
  mark_unjudged(folder, fmt::format("It was {}.", where));
  merge_events(folder);
  const std::string what = where + "; " + folder.path.string();
  if (!at) throw Interrupted(what + " has no verdict");
  throw Interrupted(what + " has what was recorded, but no verdict: with --until " +
                    to_string(*at) + " a run is judged that far");
}

}  // namespace

std::string_view name_of(World world) { return world == World::kLive ? "live" : "sim"; }

RunResult run_scenario(const Scenario& scenario, const RunOptions& options) {
  check_options(scenario, options);
  const auto began = SteadyClock::now();
  RunResult result;
  result.folder = make_run_folder(options.runs_root, scenario.name);
  const HandOver hand_over{result.folder};
  write_scenario(scenario, result.folder);
  std::optional<Scenario> happened;
  std::optional<analysis::Evidence> watched;
  WorldOutcome outcome;
  try {
    outcome = options.world == World::kLive
                  ? run_live(scenario, options, result.folder, result, happened)
                  : run_sim(scenario, options, result.folder, result, watched);
  } catch (const InterruptedAt& interrupted) {
    keep_unjudged(scenario, result.folder, interrupted.at);
  } catch (const netio::SystemError& error) {
    mark_unjudged(result.folder, error.what());
    throw;
  }
  if (happened) write_scenario(*happened, result.folder);
  write_history(outcome.history, result.folder);
  merge_events(result.folder);
  const auto start = SteadyClock::now();
  std::optional<Ticking> ticking;
  if (options.progress) {
    ticking.emplace("judging", byte_text(folder_bytes(result.folder)) + " of evidence");
  }
  std::optional<EndsAtOnce> at_once;
  at_once.emplace(fmt::format("mrclab: interrupted while it was judged; {} has no verdict",
                              result.folder.path.string()));
  const std::vector<analysis::CheckResult> programs = std::move(outcome.programs);
  analysis::RunInputs inputs = run_inputs(happened ? *happened : scenario,
                                          std::string(name_of(options.world)), std::move(outcome));
  inputs.captures = analysis::captures_in(result.folder.captures());
  inputs.records = analysis::records_in(result.folder.history());
  inputs.events = result.folder.path / "events.jsonl";
  if (result.taps) {
    inputs.taps = tap_file(result.folder);
    inputs.tap_cost = cost_of(*result.taps);
  }
  analysis::Analysis analysis =
      watched ? analysis::analyze(inputs, *watched) : analysis::analyze(inputs);
  for (const analysis::CheckResult& check : programs) add_check(analysis.verdict, check);
  write_results(result.folder, analysis);
  at_once.reset();
  ticking.reset();
  if (!scenario.check_programs.empty()) {
    run_check_programs(scenario, options, result.folder, analysis.verdict);
    write_results(result.folder, analysis);
  }
  result.verdict = analysis.verdict;
  result.analyze_seconds = seconds_since(start);
  result.seconds = seconds_since(began);
  mark_judged(result.folder);
  write_manifest(result.folder.path);
  return result;
}

}  // namespace mrclab::lab
