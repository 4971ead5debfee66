#include "live/world/daemon_fleet.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "fabric/history/report_json.h"
#include "fabric/topology/fabric_file.h"
#include "netio/record/process_report.h"
#include "netio/rpc/exit_codes.h"
#include "netio/rpc/rpc.h"
#include "netio/system/file_descriptor.h"
#include "netio/system/output_folder.h"
#include "netio/system/system_error.h"

namespace mrclab::lab {
namespace {

using netio::ProcessState;
using std::chrono::milliseconds;

constexpr milliseconds kReadyDeadline{60'000};
constexpr milliseconds kAnswerPatience{5'000};
constexpr int kChildPageFd = 3, kChildWiresFd = 5;  // 4 is that of netio/runtime/daemon_start.cc
constexpr const char* kFabricFile = "fabric.yaml";
constexpr const char* kScheduleFile = "schedule";

}  // namespace

std::filesystem::path program_directory(const std::filesystem::path& programs) {
  if (!programs.empty()) return programs;
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

DaemonFleet::DaemonFleet(const LiveLabOptions& options, const ProcessPlan& plan, LiveFabric& fabric,
                         netio::SharedPage& page, const std::optional<netio::SharedPage>& wires)
    : options_(options),
      plan_(plan),
      fabric_(fabric),
      page_(page),
      wires_(wires),
      gate_(page.as<netio::GatePage>()),
      incarnation_(plan.processes.size(), 1) {}

std::filesystem::path DaemonFleet::file(const std::string& name) const {
  return fabric_.run_directory() / name;
}

std::filesystem::path DaemonFleet::control_socket(uint32_t process) const {
  return file(name_of(process) + ".sock");
}

nlohmann::json DaemonFleet::ask(uint32_t process, const char* method,
                                const nlohmann::json& parameters) const {
  return netio::RpcClient(control_socket(process)).call(method, parameters, kAnswerPatience);
}

std::filesystem::path DaemonFleet::records_folder() const { return file("records"); }

void DaemonFleet::start() {
  if (options_.followed) {
    for (const char* part : {"history", "events", "logs", "reports"}) {
      netio::OutputFolder::make(records_folder() / part);
    }
  }
  netio::write_file(file(kFabricFile), to_yaml(options_.shape));
  netio::write_schedule_file({options_.schedule}, file(kScheduleFile));
  start_daemons();
}

void DaemonFleet::await_ready() {
  const auto deadline = std::chrono::steady_clock::now() + kReadyDeadline;
  take_daemons(deadline);
  for (uint32_t i = 0; i < children_.size(); ++i) wait_until_ready(i, deadline);
}

void DaemonFleet::replace_schedule(const netio::Schedule& schedule) {
  netio::write_schedule_file(schedule, file(kScheduleFile));
  gate_.schedule.fetch_add(1, std::memory_order_release);
}

netio::DaemonConfig DaemonFleet::config_of(uint32_t index,
                                           const std::filesystem::path& resume_file) const {
  const ProcessPlan::Process& process = plan_.processes[index];
  netio::DaemonConfig config;
  config.lab = options_.name;
  config.lab_id = fabric_.lab_id();
  config.process_name = process.name;
  config.process = index;
  config.incarnation = incarnation_[index];
  config.process_of_node = plan_.process_of_node;
  config.fabric_file = file(kFabricFile);
  config.seed = options_.seed;
  config.end = options_.end;
  config.work_end = options_.work_end;
  config.resume_file = resume_file;
  config.schedule_file = file(kScheduleFile);
  config.capture = options_.capture;
  config.capture_bytes = options_.capture_bytes;
  config.history_bytes = options_.history_bytes;
  config.followed = options_.followed;
  config.run_dir = options_.followed ? records_folder() : options_.run_dir;
  config.control_socket = control_socket(index);
  config.output_file = file(process.name + ".out");
  config.page_fd = kChildPageFd;
  if (wires_) config.wires_fd = kChildWiresFd;
  config.realtime = options_.realtime;
  config.verbose = options_.verbose;
  config.tick_ns = options_.tick_ns;
  config.payload_elided = options_.payload_elided;
  if (process.endpoints) {
    config.workload = options_.workload;
    config.transport = options_.transport;
    config.nodes_folder = file("nodes");
    if (options_.held_programs) config.held_programs = options_.held_programs(config.nodes_folder);
  }
  return config;
}

netio::ChildOptions DaemonFleet::program_of(const std::vector<uint32_t>& processes) const {
  const bool endpoints = plan_.processes[processes.front()].endpoints;
  netio::ChildOptions program;
  program.argv = {program_directory(options_.programs) /
                  (endpoints ? "mrc-endpointd" : "mrc-switchd")};
  for (const uint32_t i : processes) program.argv.push_back(file(name_of(i) + ".json"));
  program.descriptors = {{page_.fd(), kChildPageFd}};
  if (wires_) program.descriptors.push_back({wires_->fd(), kChildWiresFd});
  program.stdout_file = file(name_of(processes.front()) + ".out");
  const std::string variable = instance_variable(fabric_.instance());
  const size_t equals = variable.find('=');
  // Whatever a library looks up late, each copy of the program would look up again.
  program.environment = {{variable.substr(0, equals), variable.substr(equals + 1)},
                         {"LD_BIND_NOW", "1"}};
  return program;
}

void DaemonFleet::start_daemons() {
  std::vector<uint32_t> switches, hosts;
  for (uint32_t i = 0; i < plan_.processes.size(); ++i) {
    (plan_.processes[i].endpoints ? hosts : switches).push_back(i);
  }
  children_.resize(plan_.processes.size());
  for (const std::vector<uint32_t>& processes : {hosts, switches}) {
    if (processes.size() == 1) {
      children_[processes[0]] = start_daemon(processes[0], {});
    } else if (!processes.empty()) {
      for (const uint32_t i : processes) write_config(i, {});
      starts_.emplace_back(netio::DaemonStart(program_of(processes)), processes);
    }
  }
}

void DaemonFleet::take_daemons(std::chrono::steady_clock::time_point deadline) {
  for (auto& [start, processes] : starts_) {
    std::vector<std::unique_ptr<netio::ChildProcess>> daemons = start.take(deadline);
    for (size_t k = 0; k < daemons.size(); ++k) {
      fabric_.record_process(mark_of(daemons[k]->pid(), daemons[k]->name()));
      children_[processes.at(k)] = std::move(daemons[k]);
    }
    const auto ended = start.ended();
    if (ended && ended->clean() && daemons.size() == processes.size()) continue;
    throw std::runtime_error(fmt::format("{} daemons were started, not {}: {}{}", daemons.size(),
                                         processes.size(), ended ? to_string(*ended) : "no answer",
                                         last_words(processes.front())));
  }
  starts_.clear();
}

void DaemonFleet::write_config(uint32_t process, const std::filesystem::path& resume_file) const {
  netio::write_daemon_config(config_of(process, resume_file), file(name_of(process) + ".json"));
}

std::unique_ptr<netio::ChildProcess> DaemonFleet::start_daemon(
    uint32_t process, const std::filesystem::path& resume_file) {
  write_config(process, resume_file);
  const netio::ChildOptions program = program_of({process});
  auto started = std::make_unique<netio::ChildProcess>(netio::ChildProcess::spawn(program));
  fabric_.record_process(mark_of(started->pid(), program.argv[0]));
  return started;
}

void DaemonFleet::wait_until_ready(uint32_t i, std::chrono::steady_clock::time_point deadline) {
  // One that begins near the end of a run may have finished before the supervisor looks.
  while (gate_.state(i) == ProcessState::kAbsent) {
    const bool late = std::chrono::steady_clock::now() > deadline;
    const auto ended = children_[i]->wait(milliseconds(1));
    if (!ended && !late) continue;
    throw std::runtime_error(fmt::format("{} did not become ready: {}{}", name_of(i),
                                         ended ? to_string(*ended) : "no answer in 60 s",
                                         last_words(i)));
  }
}

void DaemonFleet::replace(uint32_t process, OutsideFaults& faults) {
  nlohmann::json answer;
  netio::Handover left;
  try {
    answer = ask(process, "power_off");
    left = report_from_json<netio::Handover>(answer);
  } catch (const ReportError& error) {
    faults.report_fault({.t = now(),
                         .what = fmt::format("{} left its successor a broken report: {}",
                                             name_of(process), error.what())});
    return;
  } catch (const std::exception&) {
    return;  // it was stopped or killed from outside: supervision reports it
  }
  PowerNote note{left.committed, process, children_[process]->pid(), 0};
  try {
    const std::filesystem::path left_file = file(name_of(process) + ".left");
    netio::write_file(left_file, answer.dump());
    kill(process);
    children_[process] = start_daemon(process, left_file);
  } catch (const netio::SystemError& error) {  // it does nothing more, and none can go on for it
    children_[process]->signal(SIGKILL);
    gate_.set_state(process, ProcessState::kFailed);
    faults.report_fault({.kind = OutsideFault::Kind::kDied,
                         .t = now(),
                         .what = fmt::format("{} lost its power and has no successor, at {}: {}",
                                             name_of(process), to_string(now()), error.what()),
                         .process = process});
    return;
  }
  wait_until_ready(process, std::chrono::steady_clock::now() + kReadyDeadline);
  note.started = children_[process]->pid();
  power_notes_.push_back(note);
}

void DaemonFleet::kill(uint32_t process) {
  children_[process]->signal(SIGKILL);
  // On a busy machine it takes seconds to die, until the kernel has its rings back; till then its
  // control socket is in use.
  if (!children_[process]->wait(kReadyDeadline)) {
    throw std::runtime_error(name_of(process) + " was killed and did not end");
  }
  gate_.set_state(process, ProcessState::kAbsent);
  gate_.slot(process).heartbeat_ns.store(0);
  ++incarnation_[process];
}

FabricTime DaemonFleet::now() const {
  const FabricTime slowest = gate_.slowest_done();
  return std::min(std::max(slowest, FabricTime::zero()), options_.end);
}

bool DaemonFleet::any_ready() const {
  for (uint32_t i = 0; i < children_.size(); ++i) {
    if (gate_.state(i) == ProcessState::kReady) return true;
  }
  return false;
}

void DaemonFleet::look_for_ended(OutsideFaults& faults) {
  for (uint32_t i = 0; i < children_.size(); ++i) {
    const ProcessState state = gate_.state(i);
    if (state == ProcessState::kReleased || state == ProcessState::kFailed) continue;
    if (children_[i]->running()) continue;
    const bool had_finished = state == ProcessState::kFinished;
    gate_.set_state(i, had_finished ? ProcessState::kFinished : ProcessState::kFailed);
    if (had_finished) continue;
    const netio::ExitStatus status = *children_[i]->wait(std::chrono::milliseconds(0));
    faults.report_fault(
        {.kind = OutsideFault::Kind::kDied,
         .t = now(),
         .what = fmt::format("{} ended with {} at {}{}", name_of(i), to_string(status),
                             to_string(now()), last_words(i)),
         .process = i,
         .disk_full = status.signal_number == 0 && status.code == netio::kDiskFullExit});
  }
}

std::string DaemonFleet::last_words(uint32_t process) const {
  std::string said;
  try {
    said = netio::read_file(file(name_of(process) + ".out"));
  } catch (const netio::SystemError&) {
    return "";
  }
  while (!said.empty() && said.back() == '\n') said.pop_back();
  return said.empty() ? "" : ": " + said.substr(said.rfind('\n') + 1);
}

void DaemonFleet::find_stopped(OutsideFaults& faults) {
  look_for_ended(faults);
  const netio::LabTime lab_now = netio::LabTime::now();
  const int64_t patience = std::chrono::nanoseconds(kGatePatience).count();
  for (uint32_t i = 0; i < children_.size(); ++i) {
    if (gate_.state(i) != ProcessState::kReady) continue;
    const int64_t beat = gate_.slot(i).heartbeat_ns.load(std::memory_order_relaxed);
    if (beat == 0 || lab_now.ns - beat < patience) continue;
    gate_.set_state(i, ProcessState::kReleased);
    faults.report_fault(
        {.kind = OutsideFault::Kind::kStoodStill,
         .t = now(),
         .what = fmt::format("{} stood still for {} s and was taken out of the gate at {}",
                             name_of(i), kGatePatience.count() / 1000, to_string(now())),
         .process = i});
  }
}

void DaemonFleet::end() {
  for (const auto& child : children_) child->signal(SIGTERM);
  for (const auto& child : children_) child->stop(milliseconds(2000));
}

}  // namespace mrclab::lab
