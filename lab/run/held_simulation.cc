#include "lab/run/held_simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "fabric/base/random.h"
#include "fabric/text/yaml.h"
#include "live/bringup/node_container_files.h"
#include "netio/kernel/loopback_network.h"
#include "sim/bipartition.h"
#include "verbs/protocol/management_address.h"

namespace mrclab::lab {
namespace {

std::filesystem::path logs_in(const std::filesystem::path& run_folder,
                              const std::filesystem::path& own) {
  const std::filesystem::path folder =
      run_folder.empty() ? own : std::filesystem::absolute(run_folder);
  std::filesystem::create_directories(folder / "logs");
  return folder;
}

}  // namespace

bool has_held_programs(const Scenario& scenario) {
  return std::any_of(scenario.programs.begin(), scenario.programs.end(),
                     [&](const ExecSpec& spec) { return is_held(scenario, spec); });
}

std::vector<verbs::DeclaredProgram> declared_programs(const Scenario& scenario,
                                                      const std::filesystem::path& nodes) {
  std::vector<verbs::DeclaredProgram> all;
  std::map<uint32_t, uint32_t> in_host;
  for (size_t i = 0; i < scenario.programs.size(); ++i) {
    const ExecSpec& spec = scenario.programs[i];
    if (!is_held(scenario, spec)) continue;
    const std::string& host = scenario.topology.node(scenario.topology.host(spec.host)).name;
    verbs::DeclaredProgram program;
    program.number = static_cast<uint32_t>(i);
    program.host = spec.host;
    program.number_in_host = in_host[spec.host]++;
    program.at = spec.at;
    // Behind all identities of the host's own (endpoint/base/identity.h).
    constexpr uint64_t kOfPrograms = uint64_t{1} << 48;
    program.seed = draw(scenario.seed, scenario.topology.host(spec.host), PortId{},
                        DrawPurpose::kIdentity, kOfPrograms + program.number_in_host);
    program.socket = nodes / host / held_socket(i).relative_path();
    program.command = spec.command;
    all.push_back(std::move(program));
  }
  return all;
}

void check_held_fabric(const Scenario& scenario) {
  if (bipartition(scenario.topology).longest_window() < verbs::ManagementNet::kOneWay) return;
  throw InputError(scenario.name + ": found held programs in a fabric whose shortest wire takes " +
                   "longer than their management network: expected wires of less than 1 km");
}

HeldSimulation::HeldSimulation(const Scenario& scenario, Simulation& simulation,
                               const std::filesystem::path& run_folder, GoOn go_on)
    : scenario_(scenario),
      simulation_(simulation),
      go_on_(std::move(go_on)),
      network_(netio::make_loopback_network(verbs::management_address(0), verbs::kManagementBits)),
      hosts_(scenario.topology.host_count(), [this](uint32_t host) { simulation_.plan(host); }) {
  check_held_fabric(scenario);
  write_hosts_file(scenario.topology, folder_.path());
  const auto transport = endpoint::make_profile(scenario.transport, scenario.topology).transport;
  // Every host answers in the management network, and be it that nobody listens.
  for (uint32_t host = 0; host < scenario.topology.host_count(); ++host) {
    hosts_.add(simulation.device(host), verbs::host_facts(scenario.topology, host, transport));
  }
  for (const verbs::DeclaredProgram& program :
       declared_programs(scenario, folder_.path() / "nodes")) {
    hosts_.declare(program);
  }
  hosts_.world().set_while_waiting([this] {
    programs_->step(FabricTime::from_ps(-1));
    return !go_on_ || go_on_(simulation_.now());
  });
  const ExecPlace place{scenario.topology,
                        folder_.path(),
                        [this](NodeId) -> const netio::NetworkNamespace& { return network_; },
                        {}};
  programs_ = std::make_unique<ExecPrograms>(
      place, scenario, ExecRun{scenario.seed, 0, logs_in(run_folder, folder_.path())});
  programs_->start_held();
}

/// Hosts first: with their connections the programs have nothing to wait for.
HeldSimulation::~HeldSimulation() {
  hosts_.close();
  programs_.reset();
}

bool HeldSimulation::step(FabricTime now) {
  if (hosts_.world().given_up()) return false;
  programs_->step(FabricTime::from_ps(-1));
  if (!go_on_ || go_on_(now)) return true;
  hosts_.world().give_up();
  return false;
}

void HeldSimulation::finish(WorldOutcome& outcome) {
  const bool interrupted = hosts_.world().given_up();  // closing ends every program
  hosts_.close();
  std::vector<verbs::HeldReport> reports = hosts_.reports();
  add_not_held(outcome, scenario_, reports);
  programs_->set_reports(std::move(reports));
  outcome.programs = programs_->finish(interrupted);
}

void add_not_held(WorldOutcome& outcome, const Scenario& scenario,
                  const std::vector<verbs::HeldReport>& reports) {
  for (const verbs::HeldReport& report : reports) {
    if (report.not_held.empty()) continue;
    const std::string& host = scenario.topology.node(scenario.topology.host(report.host)).name;
    const std::string name = report.program.empty() ? "a program" : report.program;
    const std::string when =
        report.not_held_at == FabricTime::never() ? "" : " at " + to_string(report.not_held_at);
    add_disturbance(outcome, fmt::format("{}: {} (workload's program {}) was not held{}: {}", host,
                                         name, report.number, when, report.not_held));
  }
}

}  // namespace mrclab::lab
