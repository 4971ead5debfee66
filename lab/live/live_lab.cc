#include "lab/live/live_lab.h"

#include <fmt/format.h>

#include <algorithm>

#include "fabric/fabric_file.h"
#include "netio/kernel/file_descriptor.h"
#include "netio/kernel/system_error.h"
#include "netio/record/process_report.h"
#include "netio/record/report_json.h"
#include "netio/rpc/rpc.h"
#include "netio/runtime/schedule_file.h"

namespace mrclab::lab {
namespace {

using netio::ProcessState;
using std::chrono::milliseconds;

constexpr milliseconds kReadyDeadline{60'000};
/// A daemon looks at its socket every 5 ms.
constexpr milliseconds kPowerPatience{2'000};
constexpr int kChildPageFd = 3;

std::filesystem::path program_directory(const LiveLabOptions& options) {
  if (!options.programs.empty()) return options.programs;
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

/// Throws an InputError, before anything is brought up, if no lab can be as the options want it.
ProcessPlan plan_of_possible_lab(const Topology& topology, const LiveLabOptions& options) {
  ProcessPlan plan = plan_processes(topology, options.isolate, options.host_processes);
  if (plan.processes.size() > netio::kMaxProcesses) {
    throw InputError(fmt::format("{} processes are too many; at most {} fit in one lab",
                                 plan.processes.size(), netio::kMaxProcesses));
  }
  if (topology.wires_list.size() > netio::kMaxWires) {
    throw InputError(fmt::format("{} wires are too many; at most {} fit in one lab",
                                 topology.wires_list.size(), netio::kMaxWires));
  }
  if (!topology.carries_time() && !options.dilation) {
    throw InputError(
        "an automatic pace where others than our switches forward: expected a fixed dilation; the "
        "rates of their ports follow from it");
  }
  return plan;
}

netio::GatePage& prepare_gate(netio::SharedPage& page, uint32_t lab_id, uint32_t processes) {
  auto& gate = page.as<netio::GatePage>();
  gate.magic = netio::GatePage::kMagic;
  gate.lab = lab_id;
  gate.process_count = processes;
  gate.limit_ps.store(netio::kBeforeTime.ps());
  gate.clock.reset(FabricTime::zero(), netio::LabTime::now());
  for (uint32_t i = 0; i < processes; ++i) {
    gate.slot(i).done_ps.store(netio::kBeforeTime.ps());
    gate.slot(i).claimed_ps.store(netio::kBeforeTime.ps());
    gate.slot(i).min_slack_ns.store(INT64_MAX);
    gate.slot(i).waits_for.store(netio::kNoProcess);
  }
  return gate;
}

}  // namespace

FabricTime shortest_lookahead(const Topology& topology) {
  FabricTime shortest = FabricTime::never();
  for (const Wire& wire : topology.wires_list) {
    shortest = std::min(shortest, topology.lookahead(wire.id));
  }
  return shortest;
}

LiveLab::LiveLab(const Topology& topology, LiveLabOptions options, const BringUpProgress& progress)
    : topology_(topology),
      options_(std::move(options)),
      plan_(plan_of_possible_lab(topology, options_)),
      fabric_(std::make_unique<LiveFabric>(topology, options_.name, progress)),
      page_(netio::SharedPage::create("mrclab-gate", sizeof(netio::GatePage))),
      gate_(prepare_gate(page_, fabric_->lab_id(), static_cast<uint32_t>(plan_.processes.size()))),
      lookahead_(shortest_lookahead(topology)),
      pace_(gate_.clock, options_.dilation, lookahead_),
      mirror_(
          topology, options_.schedule, [this](LinkId link, bool up) { mirror_link(link, up); },
          [this](FabricTime instant) { return keep_before(instant); }),
      power_(topology, plan_.process_of_node, options_.schedule),
      ordinary_routes_(*fabric_, options_.schedule) {
  if (topology.has_forwarding(Forwarding::kOvs)) ovs_ = std::make_unique<OvsSwitches>(*fabric_);
  if (!topology.carries_time()) {
    foreign_ = std::make_unique<ForeignSwitches>(*fabric_, ovs_.get(), options_.schedule,
                                                 *options_.dilation, [this] { return clock(); });
  }
  links_ = std::make_unique<LinkGuard>(*fabric_);
  start_daemons();
  wait_until_ready();
}

LiveLab::~LiveLab() {
  try {
    tear_down();
  } catch (const std::exception&) {  // the record stays, so that `down` can finish
  }
}

std::filesystem::path LiveLab::control_socket(uint32_t process) const {
  return fabric_->run_directory() / (plan_.processes[process].name + ".sock");
}

std::filesystem::path LiveLab::fabric_file() const {
  return fabric_->run_directory() / "fabric.yaml";
}

std::filesystem::path LiveLab::schedule_file() const {
  return fabric_->run_directory() / "schedule";
}

void LiveLab::start_daemons() {
  netio::write_file(fabric_file(), to_yaml(options_.shape));
  netio::write_schedule_file({options_.schedule}, schedule_file());
  incarnation_.assign(plan_.processes.size(), 1);
  for (uint32_t i = 0; i < plan_.processes.size(); ++i) children_.push_back(start_daemon(i, 1, {}));
}

std::unique_ptr<netio::ChildProcess> LiveLab::start_daemon(
    uint32_t index, uint32_t incarnation, const std::filesystem::path& resume_file) {
  const std::filesystem::path dir = fabric_->run_directory();
  const ProcessPlan::Process& process = plan_.processes[index];
  netio::DaemonConfig config;
  config.lab = options_.name;
  config.lab_id = fabric_->lab_id();
  config.process_name = process.name;
  config.process = index;
  config.incarnation = incarnation;
  config.process_of_node = plan_.process_of_node;
  config.fabric_file = fabric_file();
  config.seed = options_.seed;
  config.end = options_.end;
  config.work_end = options_.work_end;
  config.resume_file = resume_file;
  config.schedule_file = schedule_file();
  config.capture = options_.capture;
  config.capture_bytes = options_.capture_bytes;
  config.history_bytes = options_.history_bytes;
  config.run_dir = options_.run_dir;
  config.control_socket = control_socket(index);
  config.page_fd = kChildPageFd;
  config.realtime = options_.realtime;
  config.tick_ns = options_.tick_ns;
  if (process.endpoints) {
    config.workload = options_.workload;
    config.transport = options_.transport;
  }
  const std::filesystem::path file = dir / (process.name + ".json");
  netio::write_daemon_config(config, file);
  netio::ChildOptions child;
  child.argv = {program_directory(options_) / (process.endpoints ? "mrc-endpointd" : "mrc-switchd"),
                file.string()};
  child.descriptors = {{page_.fd(), kChildPageFd}};
  child.stdout_file = dir / (process.name + ".out");
  const std::string variable = instance_variable(fabric_->instance());
  const size_t equals = variable.find('=');
  child.environment = {{variable.substr(0, equals), variable.substr(equals + 1)}};
  auto started = std::make_unique<netio::ChildProcess>(netio::ChildProcess::spawn(child));
  fabric_->record_process(mark_of(started->pid(), child.argv[0]));
  return started;
}

void LiveLab::wait_until_ready() {
  const auto deadline = std::chrono::steady_clock::now() + kReadyDeadline;
  for (uint32_t i = 0; i < children_.size(); ++i) wait_until_ready(i, deadline);
}

void LiveLab::wait_until_ready(uint32_t i, std::chrono::steady_clock::time_point deadline) {
  // A process that begins near the end of a run may have finished before this looks.
  while (gate_.state(i) == ProcessState::kAbsent) {
    const bool late = std::chrono::steady_clock::now() > deadline;
    const auto ended = children_[i]->wait(milliseconds(1));
    if (!ended && !late) continue;
    throw std::runtime_error(fmt::format("{} did not become ready: {}{}", plan_.processes[i].name,
                                         ended ? to_string(*ended) : "no answer in 60 s",
                                         last_words(i)));
  }
}

void LiveLab::cut_power() {
  const auto due = power_.due([this](uint32_t process) {
    return FabricTime::from_ps(gate_.slot(process).done_ps.load(std::memory_order_acquire));
  });
  for (const uint32_t process : due) {
    if (gate_.state(process) == ProcessState::kReady) replace_process(process);
  }
}

void LiveLab::replace_process(uint32_t process) {
  nlohmann::json json;
  netio::Handover left;
  try {
    json = netio::RpcClient(control_socket(process)).call("power_off", nullptr, kPowerPatience);
    left = netio::report_from_json<netio::Handover>(json);
  } catch (const netio::ReportError& error) {
    note_outside(fmt::format("{} left its successor a broken report: {}",
                             plan_.processes[process].name, error.what()));
    return;
  } catch (const std::exception&) {
    return;  // another program stopped or killed it: supervision will report it
  }
  const auto file = fabric_->run_directory() / (plan_.processes[process].name + ".left");
  netio::write_file(file, json.dump());
  PowerNote note{left.committed, process, children_[process]->pid(), 0};
  children_[process]->signal(SIGKILL);
  // On a busy machine it takes seconds to die, until the kernel has its rings back; till then its
  // control socket is in use.
  if (!children_[process]->wait(kReadyDeadline)) {
    throw std::runtime_error(plan_.processes[process].name + " was killed and did not end");
  }
  gate_.set_state(process, ProcessState::kAbsent);
  gate_.slot(process).heartbeat_ns.store(0);
  children_[process] = start_daemon(process, ++incarnation_[process], file);
  wait_until_ready(process, std::chrono::steady_clock::now() + kReadyDeadline);
  note.started = children_[process]->pid();
  power_notes_.push_back(note);
}

void LiveLab::start() {
  // Only a run is compared with its start at its end; a lab that stays may be changed by its users.
  if (foreign_ && !options_.run_dir.empty()) foreign_->remember_all();
  started_ = true;
  publish_limit();
  pace_.start(netio::LabTime::now());
}

FabricTime LiveLab::now() const {
  const FabricTime slowest = gate_.slowest_done();
  return std::min(std::max(slowest, FabricTime::zero()), options_.end);
}

void LiveLab::set_limit(FabricTime limit) {
  limit_ = limit;
  publish_limit();
}

void LiveLab::set_brake(std::function<FabricTime()> brake) {
  brake_ = std::move(brake);
  brake_limit_ = brake_();
}

FabricTime LiveLab::combined_limit() const {
  return std::min(
      {limit_, mirror_.limit(), kept_before_ - kPicosecond, power_.limit(), brake_limit_});
}

void LiveLab::publish_limit() {
  if (!started_ || stands_still_)
    return;  // the end of a Standstill publishes what is decided by then
  gate_.limit_ps.store(combined_limit().ps(), std::memory_order_release);
}

bool LiveLab::keep_before(FabricTime instant) {
  const Standstill standstill(*this);
  if (standstill.last_commit() >= instant) return false;
  kept_before_ = std::min(kept_before_, instant);
  return true;
}

FabricTime LiveLab::settled() const {
  const FabricTime in_kernel = mirror_.settled(gate_.slowest_done());
  return foreign_ ? foreign_->settled(in_kernel) : in_kernel;
}

void LiveLab::replace_schedule(const Standstill& standstill, netio::Schedule schedule) {
  netio::write_schedule_file(schedule, schedule_file());
  gate_.schedule.fetch_add(1, std::memory_order_release);
  power_.settle(options_.schedule, schedule.settled);
  options_.schedule = std::move(schedule.effects);
  power_.replace(options_.schedule, standstill.open_instant());
  mirror_.replace(options_.schedule);
  if (foreign_) foreign_->replace(options_.schedule);
  ordinary_routes_.replace(options_.schedule);
}

bool LiveLab::step() {
  const FabricTime slowest = now();
  mirror_.step(slowest, pace_.dilation(), limit_);
  kept_before_ = FabricTime::never();  // the mirror's own limit covers it by now
  watch_foreign_switches();
  cut_power();
  if (options_.run_dir.empty()) forget_notes();
  if (brake_) brake_limit_ = brake_();
  publish_limit();
  if (slowest < options_.end) step_pace();
  watch_children();
  watch_heartbeats();
  watch_links();
  ordinary_routes_.step(slowest);
  watch_ovs();
  for (uint32_t i = 0; i < children_.size(); ++i) {
    if (gate_.state(i) == ProcessState::kReady) return true;
  }
  return false;
}

void LiveLab::step_pace() {
  const netio::LabTime now = netio::LabTime::now();
  Pace::Reading reading{gate_.slowest_done(), {}, {}};
  for (uint32_t i = 0; i < children_.size(); ++i) {
    const int64_t slack = gate_.slot(i).window_slack_ns.exchange(INT64_MAX);
    if (slack == INT64_MAX) continue;
    curve_.note_slack(i, slack);
    reading.window_slack_ns = std::min(reading.window_slack_ns.value_or(INT64_MAX), slack);
  }
  if (!pace_.fixed()) {
    const auto quiet = gate_.quiet_until();
    // In a lab without an end, the user may act at any time, so the clock does not jump.
    if (quiet && options_.end != FabricTime::never()) {
      reading.quiet_until = std::min({*quiet, combined_limit(), options_.end});
    }
    gate_.tick_ns.store(tick_for(pace_.dilation(), lookahead_, gate_.process_count),
                        std::memory_order_relaxed);
  }
  const std::optional<FabricTime> jumped = pace_.step(reading, now);
  if (jumped) gate_.quiet_ps.store(jumped->ps(), std::memory_order_release);
  curve_.step(gate_, pace_, now);
}

FabricTime LiveLab::clock() const {
  return std::min({gate_.clock.fabric_at(netio::LabTime::now()), options_.end, limit_});
}

const std::vector<SwitchNote>& LiveLab::switch_notes() const {
  static const std::vector<SwitchNote> kNone;
  return foreign_ ? foreign_->notes() : kNone;
}

/// Notes become events of a run. A lab that stays has no such file and would collect them for ever.
void LiveLab::forget_notes() {
  mirror_.forget_notes();
  if (foreign_) foreign_->forget_notes();
  power_notes_.clear();
}

DilationReport LiveLab::dilation_report() const {
  return pace_.report(now(), netio::LabTime::now());
}

void LiveLab::end_daemons() {
  for (const auto& child : children_) child->signal(SIGTERM);
  for (const auto& child : children_) child->stop(milliseconds(2000));
}

void LiveLab::tear_down() {
  end_daemons();
  links_.reset();
  foreign_.reset();
  ovs_.reset();
  if (fabric_) fabric_->tear_down();
  fabric_.reset();
}

}  // namespace mrclab::lab
