#include "lab/run/scenario_run.h"

#include <fmt/format.h>

#include <chrono>

#include "analysis/judge/analyze.h"
#include "analysis/verdict/verdict.h"
#include "console/interrupt.h"
#include "console/progress.h"
#include "console/stopwatch.h"
#include "lab/run/check_program.h"
#include "lab/run/held_simulation.h"
#include "lab/run/kept_traces.h"
#include "lab/run/live_run.h"
#include "lab/run/run_taps.h"
#include "lab/run/sim_run.h"
#include "netio/runtime/schedule_file.h"
#include "netio/system/file_descriptor.h"
#include "netio/system/system_error.h"
#include "recorded/folder/run_manifest.h"
#include "recorded/folder/run_origin.h"
#include "recorded/traffic/report_sections.h"
#include "scenario/judging/job_outcome.h"
#include "scenario/judging/run_inputs.h"
#include "scenario/judging/world_outcome.h"
#include "scenario/simulation/work_end.h"

namespace mrclab::lab {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// A user who interrupts a run waits for less than a second.
constexpr std::chrono::milliseconds kJudgedWithin{700};

void write_scenario(const Scenario& scenario, const RunFolder& folder) {
  write_command(origin_of(scenario), folder.path);
  const std::optional<Scenario> with_traces = with_kept_traces(scenario, folder);
  write_resolved_scenario(with_traces ? *with_traces : scenario, folder.path / "scenario.yaml");
  write_fault_schedule(scenario.schedule, scenario.topology, folder.path / "faults.jsonl");
  netio::write_schedule_file({scenario.schedule}, folder.path / "schedule.txt");
}

/// Frames that are shorter than their headers state pass our own programs only: a kernel and Open vSwitch take them for
/// broken ones, and a program of the user's needs the bytes that were sent.
void check_elided_live(const Scenario& scenario) {
  const Topology& topology = scenario.topology;
  const std::string found = scenario.name + ": found \"payload: elided\" beside ";
  if (!scenario.programs.empty()) throw InputError(found + "\"exec\": expected real");
  for (const Forwarding other : kForwardings) {
    if (other == Forwarding::kSwitchd || !topology.has_forwarding(other)) continue;
    throw InputError(found + "\"forwarding: " + std::string(name_of(other)) +
                     "\": expected real, or --world sim");
  }
}

/// Programs of the simulated world live at its time, and it stands still for one after the other.
void check_simulated_programs(const Scenario& scenario, const RunOptions& options) {
  for (const ExecSpec& program : scenario.programs) {
    if (is_held(scenario, program)) continue;
    throw InputError(scenario.name + ": found \"exec\" in this machine's time: expected --world " +
                     "live, or \"timing: held\" for a program of RDMA");
  }
  if (scenario.programs.empty()) return;
  if (options.threads > 1) {
    throw InputError("--threads: expected 1 beside held programs, which run one after the other");
  }
  if (options.ranks != nullptr) {
    throw InputError("it was started by mpirun: expected one process beside held programs");
  }
}

/// What no world can do is refused before a folder is made.
void check_options(const Scenario& scenario, const RunOptions& options) {
  if (scenario.end == FabricTime::never()) {
    throw InputError(scenario.name +
                     ": found \"end: never\": expected an instant; only a lab of "
                     "'mrclab up' goes on without end");
  }
  if (options.world == World::kLive && scenario.payload_elided) check_elided_live(scenario);
  if (options.world == World::kSim) check_simulated_programs(scenario, options);
  check_taps(scenario);
  if (options.against) require_scenario(options.against->baseline, scenario.name);
  if (options.world == World::kSim) return;
  if (options.isolate && has_held_programs(scenario)) {
    throw InputError("--isolate: expected one process for all hosts, as programs are held");
  }
  if (options.threads > 1) throw InputError("--threads: expected --world sim beside it");
  if (options.ranks != nullptr) {
    throw InputError(
        "it was started by mpirun: expected --world sim, which alone is one over many processes");
  }
}

/// The user's own checks see the run folder with a verdict that lacks only their results. They may
/// take long, so an interrupted run does not wait for them.
void run_check_programs(const Scenario& scenario, const RunOptions& options,
                        const RunResult& result, analysis::Verdict& verdict) {
  for (size_t i = 0; i < scenario.check_programs.size(); ++i) {
    const auto interrupted = [&] {
      return !result.interrupted.empty() || (options.interrupted && options.interrupted());
    };
    add_check(verdict,
              run_check_program(scenario.check_programs[i], result.folder.path, i, interrupted));
  }
}

/// However the run ends, when nothing writes into its folder any more.
struct HandOver {
  RunFolder folder;
  ~HandOver() { give_to_invoking_user(folder); }
};

void write_results(const Scenario& scenario, const RunFolder& folder,
                   const analysis::Analysis& analysis) {
  const analysis::RunOrigin origin = read_origin(scenario, folder.path);
  for (const analysis::ResultFile& file : analysis::result_files(folder.path, analysis, origin)) {
    netio::write_file(folder.path / file.name, file.text);
  }
}

/// A verdict is there as a whole or not at all: on a full disk some of it may have found room.
void take_results_back(const RunFolder& folder, const std::string& why) {
  for (const char* name : {"verdict.json", "junit.xml", "report.html"}) {
    std::error_code ignored;
    std::filesystem::remove(folder.path / name, ignored);
  }
  mark_unjudged(folder, why);
}

/// Notes in the folder that the run was interrupted at the instant `at`, or before it began, and
/// returns the message for the user.
std::string note_interrupt(const Scenario& scenario, const RunFolder& folder,
                           std::optional<FabricTime> at) {
  const std::string where =
      at ? fmt::format("interrupted at {} of {}", exact(*at), to_string(scenario.stop()))
         : std::string("interrupted before it began");
  mark_unjudged(folder, fmt::format("It was {}.", where));
  merge_events(folder);
  const std::string what = where + "; " + folder.path.string();
  if (!at) return what + " has no verdict";
  return what + " has what was recorded, but no verdict: with --until " + exact(*at) +
         " a run is judged that far";
}

/// What the world left, judged; the result's files are in its folder.
analysis::Analysis judge_run(const Scenario& scenario, const RunOptions& options,
                             const RunResult& result, WorldOutcome&& outcome,
                             const std::optional<analysis::Evidence>& watched) {
  const std::vector<analysis::CheckResult> programs = std::move(outcome.programs);
  analysis::RunInputs inputs = run_inputs(scenario, std::string(name_of(options.world)),
                                          std::move(outcome), options.interrupted);
  inputs.state_cost = options.state_cost;
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
  analysis.sections = roce_sections(scenario, result.folder.path);
  write_results(scenario, result.folder, analysis);
  return analysis;
}

/// What ends the process at once, from here on, and in what words; after an interrupt that is the time,
/// too, that is left to judge what there is.
void set_last_words(const Scenario& scenario, const RunOptions& options,
                    const std::optional<FabricTime>& interrupted_at, RunResult& result,
                    std::optional<EndsAtOnce>& at_once) {
  if (!interrupted_at) {
    at_once.emplace(fmt::format("mrclab: interrupted while it was judged; {} has no verdict",
                                result.folder.path.string()));
    return;
  }
  give_to_invoking_user(result.folder);
  const auto ago = options.take_interrupt ? options.take_interrupt() : std::chrono::milliseconds(0);
  at_once.emplace("mrclab: " + note_interrupt(scenario, result.folder, interrupted_at),
                  kJudgedWithin - ago);
  result.interrupted = fmt::format("interrupted at {} of {}; judged that far",
                                   exact(*interrupted_at), to_string(scenario.stop()));
}

/// May judging take as long as a task that shows how far it is? It simulates the run again without its faults, and
/// takes less than 100 ns for a byte of evidence. A thread for it would cost a small run more than the judge's checks.
bool may_take_long(const RunOptions& options, const RunResult& result) {
  constexpr double kShortSeconds = 0.2;
  constexpr uint64_t kLittleEvidence = uint64_t{8} << 20;
  return options.world == World::kLive || result.run_seconds > kShortSeconds ||
         folder_bytes(result.folder) > kLittleEvidence;
}

/// Makes the verdict from the world's outcome. `happened`: the scenario with the faults that were
/// added while it ran.
void finish_run(const Scenario& scenario, const RunOptions& options, WorldOutcome&& outcome,
                const std::optional<analysis::Evidence>& watched,
                const std::optional<Scenario>& happened, RunResult& result) {
  if (happened) write_scenario(*happened, result.folder);
  write_history(outcome.history, result.folder);
  if (!outcome.jobs.empty()) {
    result.folder.made->make_new(kJobsFolder);
    write_job_times(scenario, outcome.jobs, result.folder.path);
  }
  const auto start = SteadyClock::now();
  std::optional<Ticking> ticking;
  if (options.progress && may_take_long(options, result)) {
    ticking.emplace("judging", evidence_text(result.folder.path));
  }
  std::optional<EndsAtOnce> at_once;
  set_last_words(scenario, options, outcome.interrupted_at, result, at_once);
  const Scenario& whole = happened ? *happened : scenario;
  std::optional<Scenario> cut;  // no copy where none is needed: a fabric may have millions of links
  if (outcome.interrupted_at) {
    cut = whole;
    cut->until = outcome.interrupted_at;
    cut->work_ended = false;
  } else {
    merge_events(result.folder);
  }
  analysis::Analysis analysis =
      judge_run(cut ? *cut : whole, options, result, std::move(outcome), watched);
  if (!scenario.check_programs.empty()) {
    at_once.reset();  // a program is ended in order
    run_check_programs(scenario, options, result, analysis.verdict);
    write_results(scenario, result.folder, analysis);
  }
  if (options.against && result.interrupted.empty()) {
    result.comparison = compare_with(*options.against, analysis.verdict);
    for (analysis::CheckResult& check : checks_of(*result.comparison)) {
      add_check(analysis.verdict, std::move(check));
    }
    write_results(scenario, result.folder, analysis);
  }
  result.verdict = std::move(analysis.verdict);
  write_manifest(result.folder.path);
  mark_judged(result.folder);
  result.analyze_seconds = seconds_since(start);
}

}  // namespace

void end_on_interrupt(InterruptGuard& guard, RunOptions& options) {
  options.interrupted = guard.question();
  options.take_interrupt = [&guard] { return guard.take(); };
}

RunResult run_scenario(const Scenario& as_written, const RunOptions& options) {
  check_options(as_written, options);
  const auto began = SteadyClock::now();
  RunResult result;
  const auto go_on = [&](FabricTime) { return !options.interrupted || !options.interrupted(); };
  std::optional<Scenario> ended;
  if (as_written.ends_with_work) {
    ended = ended_with_work(as_written, go_on);
    if (!go_on({})) throw Interrupted("interrupted before it began");
  }
  const Scenario& scenario = ended ? *ended : as_written;
  result.folder = make_run_folder(options.runs_root, scenario.name);
  const HandOver hand_over{result.folder};
  try {
    write_scenario(scenario, result.folder);
    std::optional<Scenario> happened;
    std::optional<analysis::Evidence> watched;
    WorldOutcome outcome = options.world == World::kLive
                               ? run_live(scenario, options, result.folder, result, happened)
                               : run_sim(scenario, options, result.folder, result, watched);
    result.memory = outcome.memory;
    if (!outcome.judgeable) throw InterruptedAt(outcome.interrupted_at);
    finish_run(scenario, options, std::move(outcome), watched, happened, result);
  } catch (const InterruptedAt& interrupted) {
    throw Interrupted(note_interrupt(scenario, result.folder, interrupted.at), result.memory);
  } catch (const netio::SystemError& error) {
    take_results_back(result.folder, error.what());
    throw;
  }
  result.seconds = seconds_since(began);
  return result;
}

}  // namespace mrclab::lab
