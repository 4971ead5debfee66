#include "lab/run/live_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "console/progress.h"
#include "console/stopwatch.h"
#include "fabric/node/event_kind.h"
#include "fabric/text/visible_text.h"
#include "lab/run/exec_workload.h"
#include "lab/run/held_simulation.h"
#include "lab/run/run_taps.h"
#include "live/world/lab_faults.h"
#include "live/world/lab_loop.h"
#include "live/world/live_lab.h"
#include "live/world/live_options.h"
#include "live/world/process_reports.h"
#include "netio/rpc/heartbeat.h"
#include "netio/system/file_descriptor.h"
#include "netio/system/system_error.h"
#include "verbs/server/held/held_reports.h"

namespace mrclab::lab {
namespace {

using SteadyClock = std::chrono::steady_clock;

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

/// Reports steps to RunOptions::tell, if it is set.
class Narrator {
 public:
  explicit Narrator(const std::function<void(const std::string&)>& tell) : tell_(tell) {}
  template <class... Values>
  void report(fmt::format_string<Values...> format, Values&&... values) const {
    if (tell_) tell_(fmt::format(format, std::forward<Values>(values)...));
  }

 private:
  const std::function<void(const std::string&)>& tell_;
};

/// A run that cannot be recorded cannot be judged, so a full disk ends it without a verdict.
struct DiskFull : netio::SystemError {
  explicit DiskFull(const OutsideFault& fault)
      : SystemError("record the run beyond " + to_string(fault.t), ENOSPC, fault.what) {}
};

/// Throws DiskFull if a daemon has ended for that reason.
void require_disk(const LiveLab& lab) {
  for (const OutsideFault& fault : lab.outside_faults().kept()) {
    if (fault.disk_full) throw DiskFull(fault);
  }
}

/// Shows how far the lab is, where no view does.
void show_running(const Scenario& scenario, FabricTime now, Progress& progress) {
  if (!progress.due()) return;
  const double done = static_cast<double>(now.ps()) / static_cast<double>(scenario.stop().ps());
  progress.show(done, to_string(now) + " of " + to_string(scenario.stop()));
}

/// Steps the lab until it has finished; keeps the view fresh.
void follow(const Scenario& scenario, const RunOptions& options, LiveLab& lab, LabFaults& faults,
            ExecPrograms& programs) {
  const Narrator narrator(options.tell);
  uint64_t outside_told = 0;
  constexpr auto kStep = std::chrono::milliseconds(2);
  constexpr auto kRedraw = std::chrono::milliseconds(100);
  auto redraw = SteadyClock::now();
  Progress progress("running");
  LabLoop loop([&] { return lab.step(); }, [&] { faults.notice(); }, LabLoop::Ends::kWithProcesses);
  loop.add_check([&] { require_disk(lab); });
  loop.add([&] {
    if (options.interrupted && options.interrupted()) throw InterruptedAt(lab.now());
  });
  loop.add([&] { programs.step(lab.now()); });
  loop.add([&] {
    for (const OutsideFault& fault : lab.outside_faults().since(outside_told)) {
      narrator.report("{}: {}", to_string(fault.t), fault.what);
      // Changes by others may also slow the run down, so they are shown at once.
      if (options.view != nullptr && !options.tell) options.view->note(visible(fault.what));
    }
  });
  loop.add([&] {
    if (options.view != nullptr && SteadyClock::now() >= redraw) {
      options.view->update(sample_of(scenario, lab));
      redraw = SteadyClock::now() + kRedraw;
    } else if (options.view == nullptr && options.progress) {
      show_running(scenario, lab.now(), progress);
    }
  });
  netio::keep_looking([&] { return loop.turn() ? netio::Heartbeat::Next(kStep) : std::nullopt; });
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

void take_held_reports(const Scenario& scenario, WorldOutcome& outcome, ExecPrograms& programs) {
  std::vector<verbs::HeldReport> reports;
  for (const std::string& text : outcome.held_programs) {
    for (verbs::HeldReport& report : verbs::read_reports(text))
      reports.push_back(std::move(report));
  }
  add_not_held(outcome, scenario, reports);
  programs.set_reports(std::move(reports));
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
    add(fault.t, event_kind::kOutsideFault, fault.what);
  }
  for (const PowerNote& note : lab.fleet().power_notes()) {
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
  for (const PaceCurve::Point& point : lab.pace().curve().points()) {
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

/// Follows the lab to its end. If the kernel refuses a change underway, because another program
/// removed what the lab needs, the run ends there and the reason is returned: it makes the run
/// inconclusive.
std::optional<std::string> follow_to_end(const Scenario& scenario, const RunOptions& options,
                                         LiveLab& lab, LabFaults& faults, ExecPrograms& programs) {
  try {
    follow(scenario, options, lab, faults, programs);
    lab.look_again();
    return std::nullopt;
  } catch (const InterruptedAt&) {
    throw;
  } catch (const DiskFull&) {
    throw;
  } catch (const std::runtime_error& error) {
    lab.end_daemons();  // and have their reports
    return fmt::format("the run ended at {}: {}", to_string(lab.now()), error.what());
  }
}

}  // namespace

WorldOutcome run_live(const Scenario& scenario, const RunOptions& options, const RunFolder& folder,
                      RunResult& result, std::optional<Scenario>& happened) {
  auto start = SteadyClock::now();
  const Narrator narrator(options.tell);
  LiveLabOptions own;
  own.name = options.lab_name.value_or(lab_name_for(scenario.name));
  own.end = scenario.stop();
  own.capture = capture_mode(scenario.captures);
  own.capture_bytes = options.capture_bytes;
  own.history_bytes = options.history_bytes;
  own.run_dir = std::filesystem::absolute(folder.path);
  own.isolate = options.isolate;
  own.realtime = options.realtime;
  own.verbose = bool{options.tell};
  own.host_processes = options.host_processes;
  own.switch_processes = options.switch_processes;
  own.programs = options.programs;
  if (has_held_programs(scenario)) {
    check_held_fabric(scenario);
    own.host_processes = 1;  // the network between them is of one process
    own.held_programs = [&scenario](const std::filesystem::path& nodes) {
      return verbs::declared_text(declared_programs(scenario, nodes));
    };
  }
  LiveLab lab(scenario.topology, live_options_of(scenario, own),
              [&, last = std::string()](const BringUpStep& step) mutable {
                if (options.interrupted && options.interrupted()) throw InterruptedAt(std::nullopt);
                if (last != step.what) narrator.report("{}: {}", last = step.what, step.total);
              });
  result.bring_up_seconds = seconds_since(start);
  for (uint32_t i = 0; i < lab.plan().processes.size(); ++i) {
    narrator.report("{} is ready, pid {}", lab.plan().processes[i].name, lab.fleet().pid_of(i));
  }
  narrator.report("logs of the daemons in {}", (folder.path / "logs").string());
  if (options.on_process) {
    for (uint32_t i = 0; i < lab.plan().processes.size(); ++i) {
      options.on_process(lab.plan().processes[i].name, lab.fleet().pid_of(i));
    }
  }
  const std::unique_ptr<netio::VethTaps> taps = tap_veths(lab.fabric(), scenario.taps, folder);
  std::optional<TapBrake> brake;
  if (taps) {
    brake.emplace(*taps, scenario.topology);
    lab.commits().set_brake([&] { return brake->limit(lab.now()); });
  }
  start = SteadyClock::now();
  ExecPrograms programs(place_of(lab.fabric()), scenario,
                        {scenario.seed, static_cast<double>(scenario.dilation.value_or(0)),
                         std::filesystem::absolute(folder.path)});
  programs.start_held();
  narrator.report("fabric time starts");
  lab.start();
  LabFaults faults(lab, scenario.topology, scenario.faults, scenario.seed);
  const std::optional<std::string> broken = follow_to_end(scenario, options, lab, faults, programs);
  if (faults.changed()) {
    happened = scenario;
    happened->faults = faults.book().faults();
    happened->schedule = lab.schedule();
  }
  result.run_seconds = seconds_since(start);
  const DilationReport dilation = lab.pace().report(lab.now());
  narrator.report("{} of fabric time, mean dilation {:.0f}", to_string(lab.now()), dilation.mean);

  WorldOutcome outcome;
  collect_reports(scenario, lab, folder, outcome);
  take_held_reports(scenario, outcome, programs);
  outcome.programs = programs.finish();
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
  narrator.report("the lab is down");
  return outcome;
}

}  // namespace mrclab::lab
