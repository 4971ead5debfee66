#include "lab/scenario_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "analysis/analyze.h"
#include "analysis/more_checks.h"
#include "lab/exec_workload.h"
#include "lab/interrupt.h"
#include "lab/lab_faults.h"
#include "lab/live_lab.h"
#include "lab/live_options.h"
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

constexpr const char* kBeforeItBegan = "before it began";

/// Lab names allow neither '-' nor '.', and are at most 32 long.
std::string lab_name_for(const std::string& scenario) {
  std::string name;
  for (const char c : scenario.substr(0, 20)) {
    name += (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : '_';
  }
  return fmt::format("{}_{}", name, ::getpid());
}

netio::CaptureMode capture_mode(CaptureScope scope) {
  switch (scope) {
    case CaptureScope::kHosts: return netio::CaptureMode::kHosts;
    case CaptureScope::kAll: return netio::CaptureMode::kAll;
    case CaptureScope::kNone: break;
  }
  return netio::CaptureMode::kNone;
}

ProgressSample sample_of(const Scenario& scenario, LiveLab& lab) {
  using netio::ProgressCounter;
  netio::GatePage& gate = lab.gate();
  ProgressSample sample;
  sample.now = lab.now();
  sample.end = scenario.stop();
  sample.dilation = lab.dilation();
  for (uint32_t plane = 0; plane < scenario.topology.planes && plane < netio::kMaxPlanes; ++plane) {
    sample.plane_bytes.push_back(gate.progress(ProgressCounter::kPlaneBytes, plane));
  }
  for (const LinkId link : lab.mirror().down_at(sample.now)) {
    sample.links_down.push_back(scenario.topology.port_name(scenario.topology.link(link).b));
  }
  sample.evs_lost = gate.progress(ProgressCounter::kEvsLost);
  sample.evs_regained = gate.progress(ProgressCounter::kEvsRegained);
  sample.retransmitted = gate.progress(ProgressCounter::kRetransmitted);
  sample.trimmed = gate.progress(ProgressCounter::kTrimmed);
  sample.qps_in_error = gate.progress(ProgressCounter::kQpsInError);
  sample.bytes_verified = gate.progress(ProgressCounter::kBytesVerified);
  for (uint32_t i = 0; i < gate.process_count; ++i) {
    sample.late_frames += gate.slot(i).late_frames.load(std::memory_order_relaxed);
  }
  return sample;
}

LiveLabOptions live_options(const Scenario& scenario, const RunOptions& options,
                            const RunFolder& folder) {
  LiveLabOptions live = live_options_of(scenario);
  live.name = options.lab_name.value_or(lab_name_for(scenario.name));
  live.capture = capture_mode(scenario.captures);
  live.history_bytes = options.history_bytes;
  live.run_dir = std::filesystem::absolute(folder.path);
  live.isolate = options.isolate;
  live.realtime = options.realtime;
  live.host_processes = options.host_processes;
  live.programs = options.programs;
  return live;
}

/// Throws if a daemon has ended because the disk is full: what cannot be recorded cannot be judged.
void require_disk(const LiveLab& lab) {
  for (const OutsideFault& fault : lab.outside_faults().kept()) {
    if (!fault.disk_full) continue;
    throw netio::SystemError("record the run beyond " + to_string(fault.t), ENOSPC, fault.what);
  }
}

/// Steps the lab until it has finished; keeps the view fresh.
void follow(const Scenario& scenario, const RunOptions& options, LiveLab& lab, LabFaults& faults,
            ExecPrograms& programs) {
  constexpr auto kStep = std::chrono::milliseconds(2);
  constexpr auto kRedraw = std::chrono::milliseconds(100);
  auto redraw = SteadyClock::now();
  while (lab.step()) {
    require_disk(lab);
    faults.notice();
    if (options.interrupted && options.interrupted()) {
      throw Interrupted(to_string(lab.now()));
    }
    programs.step(lab.now());
    if (options.view != nullptr && SteadyClock::now() >= redraw) {
      options.view->update(sample_of(scenario, lab));
      redraw = SteadyClock::now() + kRedraw;
    }
    std::this_thread::sleep_for(kStep);  // the lab's heartbeat, not a wait for something to happen
  }
  if (options.view != nullptr) options.view->finish(sample_of(scenario, lab));
}

void collect_reports(const Scenario& scenario, const LiveLab& lab, const RunFolder& folder,
                     WorldOutcome& outcome) {
  outcome.timing.min_slack_ns = INT64_MAX;
  add_process_reports(outcome, scenario, lab.plan(), folder.reports());
  for (const OutsideFault& fault : lab.outside_faults().kept()) {
    add_disturbance(outcome, fault.what);
  }
  if (outcome.timing.min_slack_ns == INT64_MAX) outcome.timing.min_slack_ns = 0;
}

/// What the lab itself did joins the nodes' events.
void write_lab_events(const Scenario& scenario, const LiveLab& lab, const RunFolder& folder) {
  std::string text;
  // The names of interfaces and files of others need not be UTF-8.
  const auto add = [&](FabricTime t, std::string_view kind, std::string_view detail) {
    const nlohmann::ordered_json line{
        {"t_ps", t.ps()}, {"node", "lab"}, {"kind", kind}, {"detail", detail}};
    text += line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  };
  for (const MirrorNote& note : lab.mirror().notes()) {
    add(note.t, note.kind, scenario.topology.link_name(note.link));
  }
  for (const SwitchNote& note : lab.switch_notes()) add(note.t, note.kind, note.detail);
  for (const OutsideFault& fault : lab.outside_faults().kept()) {
    add(fault.t, "outside_fault", fault.what);
  }
  for (const PowerNote& note : lab.power_notes()) {
    add(note.t, "process_replaced",
        fmt::format("{}: {} killed, {} started", lab.plan().processes[note.process].name,
                    note.killed, note.started));
  }
  netio::write_file(folder.path / "events" / "lab.jsonl", text);
}

std::vector<analysis::PacePoint> pace_points(const LiveLab& lab) {
  const auto name_of_process = [&lab](uint32_t process) {
    return process == netio::kNoProcess ? std::string() : lab.plan().processes[process].name;
  };
  std::vector<analysis::PacePoint> points;
  for (const PaceCurve::Point& point : lab.pace_curve().points()) {
    analysis::PacePoint out;
    out.t = point.fabric;
    out.lab_ns = point.lab_ns;
    out.dilation = point.dilation;
    if (point.slack_ns != INT64_MAX) out.slack_ns = point.slack_ns;
    out.slack_of = name_of_process(point.slack_of);
    out.behind_ns = point.behind.ns();
    out.slowest = name_of_process(point.slowest);
    out.waited_for = name_of_process(point.waited_for);
    points.push_back(std::move(out));
  }
  return points;
}

void write_pace(const std::vector<analysis::PacePoint>& points, const std::filesystem::path& file) {
  std::string text;
  for (const analysis::PacePoint& point : points) {
    nlohmann::ordered_json line{{"fabric_ns", point.t.ns()},
                                {"lab_ns", point.lab_ns},
                                {"dilation", static_cast<int64_t>(point.dilation)},
                                {"slack_ns", nullptr},
                                {"slack_of", point.slack_of},
                                {"behind_ns", point.behind_ns},
                                {"slowest", point.slowest},
                                {"waited_for", point.waited_for}};
    if (point.slack_ns) line["slack_ns"] = *point.slack_ns;
    text += line.dump() + "\n";
  }
  netio::write_file(file, text);
}

/// Follows the lab to its end. If the kernel refuses something underway,
/// because somebody took away what the lab needs, the run ends there and the
/// reason is returned: it makes the run inconclusive.
std::optional<std::string> follow_to_end(const Scenario& scenario, const RunOptions& options,
                                         LiveLab& lab, LabFaults& faults, ExecPrograms& programs) {
  try {
    follow(scenario, options, lab, faults, programs);
    lab.look_again();
    return std::nullopt;
  } catch (const Interrupted&) {
    throw;
  } catch (const std::runtime_error& error) {
    lab.end_daemons();  // and have their reports
    return fmt::format("the run ended at {}: {}", to_string(lab.now()), error.what());
  }
}

/// `happened` gets the scenario with what others did to the lab, if they did.
WorldOutcome run_live(const Scenario& scenario, const RunOptions& options, const RunFolder& folder,
                      RunResult& result, std::optional<Scenario>& happened) {
  auto start = SteadyClock::now();
  LiveLab lab(scenario.topology, live_options(scenario, options, folder), [&](const BringUpStep&) {
    if (options.interrupted && options.interrupted()) throw Interrupted(kBeforeItBegan);
  });
  result.bring_up_seconds = seconds_since(start);
  if (options.on_process) {
    for (uint32_t i = 0; i < lab.plan().processes.size(); ++i) {
      options.on_process(lab.plan().processes[i].name, lab.pid_of(i));
    }
  }
  const std::unique_ptr<netio::VethTaps> taps = tap_veths(lab.fabric(), scenario.taps, folder);
  std::optional<TapBrake> brake;
  if (taps) {
    brake.emplace(*taps, scenario.topology);
    lab.set_brake([&] { return brake->limit(lab.now()); });
  }
  start = SteadyClock::now();
  lab.start();
  ExecPrograms programs(lab.fabric(), scenario.programs,
                        {scenario.seed, static_cast<double>(scenario.dilation.value_or(0)),
                         std::filesystem::absolute(folder.path)});
  LabFaults faults(lab, scenario.topology, scenario.faults, scenario.seed);
  const std::optional<std::string> broken = follow_to_end(scenario, options, lab, faults, programs);
  if (faults.changed()) {
    happened = scenario;
    happened->faults = faults.book().faults();
    happened->schedule = lab.schedule();
  }
  result.run_seconds = seconds_since(start);
  const DilationReport dilation = lab.dilation_report();

  WorldOutcome outcome;
  outcome.programs = programs.finish();
  collect_reports(scenario, lab, folder, outcome);
  if (broken) add_disturbance(outcome, *broken);
  write_lab_events(scenario, lab, folder);
  outcome.timing.dilation_min = dilation.min;
  outcome.timing.dilation_mean = dilation.mean;
  outcome.timing.dilation_max = dilation.max;
  outcome.timing.jumps = dilation.jumps;
  outcome.timing.holds = dilation.holds;
  outcome.timing.pace = pace_points(lab);
  write_pace(outcome.timing.pace, folder.path / "pace.jsonl");
  if (taps) result.taps = taps->finish();
  start = SteadyClock::now();
  lab.tear_down();
  result.tear_down_seconds = seconds_since(start);
  return outcome;
}

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
  if (interrupted_at) throw Interrupted(to_string(*interrupted_at));
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

/// Notes in the folder that the run was interrupted at this instant, and
/// throws that on to the user.
[[noreturn]] void keep_unjudged(const Scenario& scenario, const RunFolder& folder,
                                const std::string& at) {
  const bool began = at != kBeforeItBegan;
  const std::string where =
      began ? fmt::format("interrupted at {} of {}", at, to_string(scenario.stop()))
            : std::string("interrupted before it began");
  mark_unjudged(folder, fmt::format("It was {}.", where));
  merge_events(folder);
  const std::string what = where + "; " + folder.path.string();
  if (!began) throw Interrupted(what + " has no verdict");
  throw Interrupted(what + " has what was recorded, but no verdict: with --until " + at +
                    " a run is judged that far");
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
  } catch (const Interrupted& at) {
    keep_unjudged(scenario, result.folder, at.what());
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
