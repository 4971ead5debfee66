#include "lab/run/exec_workload.h"

#include <fmt/format.h>

#include "fabric/text/counted_noun.h"
#include "fabric/text/yaml.h"
#include "fabric/topology/path.h"
#include "lab/rdma/device_files.h"
#include "lab/rdma/program_surroundings.h"
#include "live/bringup/bring_up.h"
#include "live/bringup/node_container_files.h"
#include "netio/system/system_error.h"

namespace mrclab::lab {
namespace {

using std::chrono::milliseconds;

std::pair<std::string, std::string> split_variable(const std::string& text) {
  const size_t equals = text.find('=');
  return {text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace

ExecPrograms::ExecPrograms(const LiveFabric& fabric, const std::vector<ExecSpec>& specs,
                           ExecRun run)
    : fabric_(fabric),
      specs_(specs),
      libraries_(rdma_libraries()),
      run_(std::move(run)),
      programs_(specs.size()),
      not_started_(specs.size(), "its time did not come before the run's end") {
  const auto held = [this](const ExecSpec& spec) { return is_held(spec); };
  if (!libraries_ && std::any_of(specs.begin(), specs.end(), held)) {
    throw InputError(kNoRdmaLibraries);
  }
  constexpr uint32_t kMostAddresses = 1024;  // an environment has a limit; /etc/hosts has them all
  const Topology& topology = fabric.topology();
  for (uint32_t host = 0; host < std::min(topology.host_count(), kMostAddresses); ++host) {
    addresses_.emplace_back("MRCLAB_ADDRESS_" + topology.node(topology.host(host)).name,
                            to_string(host_address(topology, host)));
  }
}

bool ExecPrograms::is_held(const ExecSpec& spec) const {
  return spec.time.value_or(run_.held ? ProgramTime::kHeld : ProgramTime::kWall) ==
         ProgramTime::kHeld;
}

ExecPrograms::~ExecPrograms() {
  try {
    end_all();
  } catch (const netio::SystemError&) {  // the lab's tear-down ends what is left
  }
}

void ExecPrograms::start(size_t index) {
  const ExecSpec& spec = specs_[index];
  const Topology& topology = fabric_.topology();
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
  // Clean-up finds a lab's processes by this, wherever they went.
  options.environment.push_back(split_variable(instance_variable(fabric_.instance())));
  netio::NodeContainer container = node_container(fabric_.run_directory(), host);
  const bool held = is_held(spec);
  if (spec.rdma && libraries_) {
    const RdmaProgram program{
        spec.host, held, program_of_line(spec.command), spec.send_emulated, {}};
    for (auto& variable : rdma_environment(topology, program, *libraries_)) {
      options.environment.push_back(std::move(variable));
    }
    container.class_directory =
        write_device_files(topology, spec.host, run_.has_rc, fabric_.run_directory());
  }
  const netio::NetworkNamespace& ns = fabric_.network_namespace(node);
  options.before_exec = [&] {
    netio::enter_node(container, ns);
    if (held) fix_addresses();
  };
  try {
    programs_[index] = std::make_unique<UserProgram>(options);
  } catch (const netio::SystemError& error) {
    not_started_[index] = error.what();
  }
}

void ExecPrograms::step(FabricTime now) {
  for (size_t i = 0; i < specs_.size(); ++i) {
    if (programs_[i]) {
      programs_[i]->step();
    } else if (specs_[i].at <= now && started_.insert(i).second) {
      start(i);
    }
  }
}

void ExecPrograms::end_all() {
  for (const auto& program : programs_) {
    if (program && program->step()) program->end(UserProgram::kGrace);
  }
}

std::vector<analysis::CheckResult> ExecPrograms::finish() {
  end_all();
  std::vector<analysis::CheckResult> checks;
  for (size_t i = 0; i < specs_.size(); ++i) checks.push_back(check_of(i));
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
  // One that did not start shows nothing, even where it may fail.
  const analysis::Looked looked(program == nullptr ? 0 : 1, "program", FabricTime::zero(),
                                FabricTime::never(), analysis::Source::kProgram);
  check = why.empty() || spec.may_fail ? passed(std::move(check), looked)
                                       : failed(std::move(check), why);
  check.looked = looked;
  check.note = why;
  if (program != nullptr && !program->last_line().empty()) {
    check.note += (why.empty() ? "" : "; ") + program->last_line();
  }
  if (program != nullptr && program->output_dropped() > 0) {
    check.note +=
        fmt::format("; {} of its output not kept", counted_noun(program->output_dropped(), "byte"));
  }
  return check;
}

}  // namespace mrclab::lab
