#include "lab/run/exec_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "fabric/text/counted_noun.h"
#include "fabric/text/yaml.h"
#include "fabric/topology/path.h"
#include "lab/rdma/device_files.h"
#include "lab/rdma/program_surroundings.h"
#include "live/bringup/bring_up.h"
#include "live/bringup/node_container_files.h"
#include "netio/rpc/heartbeat.h"
#include "netio/system/message_socket.h"
#include "netio/system/process_space.h"
#include "netio/system/system_error.h"
#include "scenario/spec/transport_fit.h"

namespace mrclab::lab {
namespace {

using std::chrono::milliseconds;

std::pair<std::string, std::string> split_variable(const std::string& text) {
  const size_t equals = text.find('=');
  return {text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace

ExecPlace place_of(const LiveFabric& fabric) {
  return {fabric.topology(), fabric.run_directory(),
          [&fabric](NodeId node) -> const netio::NetworkNamespace& {
            return fabric.network_namespace(node);
          },
          instance_variable(fabric.instance())};
}

std::filesystem::path held_socket(size_t program) {
  return fmt::format("/run/mrclab-held-{}", program);
}

ExecPrograms::ExecPrograms(ExecPlace place, const Scenario& scenario, ExecRun run)
    : place_(std::move(place)),
      scenario_(scenario),
      specs_(scenario.programs),
      libraries_(rdma_libraries()),
      run_(std::move(run)),
      programs_(specs_.size()),
      not_started_(specs_.size(), "its time did not come before the run's end") {
  const auto held = [&](const ExecSpec& spec) { return is_held(scenario, spec); };
  if (!libraries_ && std::any_of(specs_.begin(), specs_.end(), held)) {
    throw InputError(kNoRdmaLibraries);
  }
  constexpr uint32_t kMostAddresses = 1024;  // an environment has a limit; /etc/hosts has them all
  const Topology& topology = place_.topology;
  for (uint32_t host = 0; host < std::min(topology.host_count(), kMostAddresses); ++host) {
    addresses_.emplace_back("MRCLAB_ADDRESS_" + topology.node(topology.host(host)).name,
                            to_string(host_address(topology, host)));
  }
}

ExecPrograms::~ExecPrograms() {
  try {
    end_all();
  } catch (const netio::SystemError&) {  // the lab's tear-down ends what is left
  }
}

void ExecPrograms::start(size_t index) {
  const ExecSpec& spec = specs_[index];
  const Topology& topology = place_.topology;
  const NodeId node = topology.host(spec.host);
  const std::string& host = topology.node(node).name;
  UserProgram::Options options;
  options.command = spec.command;
  options.working_directory = spec.cwd;
  options.timeout = spec.timeout;
  options.log_file = run_.run_folder / "logs" / fmt::format("exec-{}-{}.log", index, host);
  options.environment = addresses_;
  options.environment.push_back({"MRCLAB_HOST", host});
  options.environment.push_back({"MRCLAB_ADDRESS", to_string(host_address(topology, spec.host))});
  options.environment.push_back({"MRCLAB_RUN", run_.run_folder.string()});
  options.environment.push_back({"MRCLAB_SEED", std::to_string(run_.seed)});
  options.environment.push_back({"MRCLAB_DILATION", fmt::format("{}", run_.dilation)});
  if (!place_.instance_variable.empty()) {
    options.environment.push_back(split_variable(place_.instance_variable));
  }
  netio::NodeContainer container = node_container(place_.directory, host);
  const netio::NetworkNamespace& ns = place_.network(node);
  const bool held = is_held(scenario_, spec);
  options.before_exec = [&] {
    if (held) netio::enter_process_space();
    netio::enter_node(container, ns);
    if (held) fix_addresses();
  };
  try {
    if (spec.rdma && libraries_) add_rdma(index, options, container);
    programs_[index] = std::make_unique<UserProgram>(options);
  } catch (const netio::SystemError& error) {
    not_started_[index] = error.what();
  }
}

void ExecPrograms::add_rdma(size_t index, UserProgram::Options& options,
                            netio::NodeContainer& container) const {
  const ExecSpec& spec = specs_[index];
  RdmaProgram program;
  program.host = spec.host;
  program.held = is_held(scenario_, spec);
  program.send_emulated = spec.send_emulated;
  if (program.held) {
    program.program = program_of_line(spec.command);
    program.socket = held_socket(index);
  }
  const Environment own = rdma_environment(place_.topology, program, *libraries_);
  options.environment.insert(options.environment.end(), own.begin(), own.end());
  container.class_directory =
      write_device_files(place_.topology, spec.host, uses_roce(scenario_), place_.directory);
}

void ExecPrograms::start_held() {
  for (size_t i = 0; i < specs_.size(); ++i) {
    if (is_held(scenario_, specs_[i]) && started_.insert(i).second) start(i);
  }
}

void ExecPrograms::step(FabricTime now) {
  for (size_t i = 0; i < specs_.size(); ++i) {
    if (programs_[i]) {
      if (!programs_[i]->step()) hang_up(i);
    } else if (specs_[i].at <= now && started_.insert(i).second) {
      start(i);
    }
  }
}

/// Its host need not wait for a held program that has ended. One that had attached left nobody who listens.
void ExecPrograms::hang_up(size_t index) {
  if (!is_held(scenario_, specs_[index]) || !hung_up_.insert(index).second) return;
  const Topology& topology = place_.topology;
  const std::string& host = topology.node(topology.host(specs_[index].host)).name;
  const netio::NodeContainer container = node_container(place_.directory, host);
  try {
    netio::MessageSocket::connect(container.run_directory / held_socket(index).filename());
  } catch (const netio::SystemError&) {
  }
}

void ExecPrograms::end_all() {
  for (const auto& program : programs_) {
    if (program && program->step()) program->end(UserProgram::kGrace);
  }
}

const verbs::HeldReport* ExecPrograms::report_of(size_t index) const {
  const auto report = std::find_if(reports_.begin(), reports_.end(),
                                   [&](const auto& one) { return one.number == index; });
  return report == reports_.end() ? nullptr : &*report;
}

/// At fabric time they are at their end: what is left of them takes no more than this machine's time.
void ExecPrograms::await_ended() {
  constexpr milliseconds kPatience{10'000}, kStep{2};
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  netio::keep_looking([&]() -> netio::Heartbeat::Next {
    bool any = false;
    for (size_t i = 0; i < specs_.size(); ++i) {
      const verbs::HeldReport* const report = report_of(i);
      const bool ended = report != nullptr && report->ended != FabricTime::never();
      if (ended && programs_[i] && programs_[i]->step()) any = true;
    }
    if (!any || std::chrono::steady_clock::now() >= give_up) return std::nullopt;
    return kStep;
  });
}

std::vector<analysis::CheckResult> ExecPrograms::finish(bool interrupted) {
  await_ended();
  end_all();
  std::vector<analysis::CheckResult> checks;
  for (size_t i = 0; i < specs_.size(); ++i) {
    checks.push_back(check_of(i));
    const verbs::HeldReport* const held = report_of(i);
    if (!interrupted || held == nullptr || held->ended != FabricTime::never()) continue;
    checks.back() = unjudged(std::move(checks.back()), "was running when the run was interrupted");
  }
  return checks;
}

analysis::CheckResult ExecPrograms::check_of(size_t index) const {
  using analysis::Result;
  const ExecSpec& spec = specs_[index];
  const UserProgram* program = programs_[index].get();
  analysis::CheckResult check;
  check.name = "exec";
  check.about = fmt::format("h{}: {}", spec.host, spec.command);
  check.unit = "exit code";
  check.bound = 0;
  std::string why;
  if (program == nullptr) {
    why = "not started: " + not_started_[index];
  } else if (program->timed_out()) {
    why = fmt::format("did not end within {} ms", spec.timeout->count());
  } else if (program->was_ended()) {
    why = spec.until_end ? "" : "did not end before the run did";
  } else {
    check.measured = program->status()->code;
    if (!program->status()->clean()) why = "ended with " + to_string(*program->status());
  }
  const verbs::HeldReport* const held = report_of(index);
  const bool attached = held == nullptr || held->started != FabricTime::never();
  if (held != nullptr && why.empty() && !held->not_held.empty()) why = held->not_held;
  // One that did not start shows nothing, even where it may fail; one that has failed does, if it never attached.
  const bool has_failed = !why.empty() && !spec.may_fail && check.measured.has_value();
  const bool showed = program != nullptr && (attached || has_failed);
  if (program != nullptr && !attached && why.empty() && check.measured) {
    why = "ended without having attached: " + std::string(verbs::kNeverAttaches);
  }
  const analysis::Looked looked(showed ? 1 : 0, "program", FabricTime::zero(), FabricTime::never(),
                                analysis::Source::kProgram);
  check = why.empty() || spec.may_fail ? passed(std::move(check), looked)
                                       : failed(std::move(check), why);
  check.looked = looked;
  check.note = why;
  if (held != nullptr && attached) {
    check.note += fmt::format("{}from {}", why.empty() ? "" : "; ", to_string(held->started));
    if (held->ended != FabricTime::never()) check.note += " to " + to_string(held->ended);
  }
  if (program != nullptr && !program->last_line().empty()) {
    check.note += (check.note.empty() ? "" : "; ") + program->last_line();
  }
  if (program != nullptr && program->output_dropped() > 0) {
    check.note +=
        fmt::format("; {} of its output not kept", counted_noun(program->output_dropped(), "byte"));
  }
  return check;
}

}  // namespace mrclab::lab
