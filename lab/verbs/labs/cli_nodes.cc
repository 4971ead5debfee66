// exec, shell.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <memory>

#include "console/root_rights.h"
#include "console/terminal.h"
#include "fabric/topology/fabric_file.h"
#include "lab/persistent/lab_choice.h"
#include "lab/persistent/node_commands.h"
#include "lab/persistent/rdma_hosts.h"
#include "lab/rdma/program_surroundings.h"
#include "lab/verbs/cli.h"
#include "live/bringup/node_container_files.h"
#include "live/inspect/ordinary_trace.h"
#include "netio/kernel/node_container.h"
#include "netio/system/file_descriptor.h"

namespace mrclab::lab {
namespace {

struct NodeOptions {
  std::string node;
  std::optional<std::string> lab;
  std::vector<std::string> command;
  size_t jobs = 16;  ///< nodes at a time
  RdmaWish rdma;
  bool held = false;
};

bool is_node(const LabRecord& record, const std::string& name) {
  return std::find(record.nodes.begin(), record.nodes.end(), name) != record.nodes.end();
}

void require_node(const LabRecord& record, const std::string& node) {
  if (is_node(record, node)) return;
  throw InputError(fmt::format("lab '{}' has no node '{}'; its nodes are {} to {}", record.lab,
                               node, record.nodes.front(), record.nodes.back()));
}

/// Prints at a terminal which paths the command's traffic takes to the host that it names.
void print_ways(const LabRecord& record, const NodeOptions& options) {
  if (::isatty(STDERR_FILENO) == 0) return;
  const Topology topology = read_fabric_file(LabPaths{}.lab_directory(record.lab) / "fabric.yaml");
  const auto is_host = [&](const std::string& word) {
    const std::optional<NodeId> node = topology.find_node(word);
    return node && topology.node(*node).role == NodeRole::kHost;
  };
  const auto other =
      std::find_if(options.command.begin(), options.command.end(),
                   [&](const std::string& word) { return word != options.node && is_host(word); });
  if (!is_host(options.node) || other == options.command.end()) return;
  const auto ordinary = explain_ordinary(topology, options.node, *other, record);
  const std::string line = fmt::format(
      "{} to {}: {} ways, each flow over one of them (mrclab trace{} {} {})", options.node, *other,
      ordinary.at("ways").size(), lab_option(record.lab), options.node, *other);
  fmt::print(stderr, "{}\n", paint(line, Colour::kDim, stderr));
}

/// The user's shell. In bash's prompts \h ends at the first dot, and nodes are called p5.t0-0.
std::vector<std::string> shell_in(const netio::NodeContainer& node) {
  const char* preferred = std::getenv("SHELL");
  const std::string shell = preferred != nullptr && *preferred != '\0' ? preferred : "/bin/sh";
  if (!shell.ends_with("/bash")) return {shell};
  netio::write_file(node.run_directory / "bashrc",
                    "[[ -f ~/.bashrc ]] && . ~/.bashrc\n"
                    "PS1=${PS1//\\\\h/\\\\H}\n"
                    "[[ $PS1 == *\\\\H* ]] || PS1=\"(\\\\H) $PS1\"\n");
  return {shell, "--rcfile", "/run/bashrc"};
}

/// For what this process starts in the node.
void surround(netio::NodeContainer& node, const NodeSurroundings& surroundings) {
  node.class_directory = surroundings.class_directory;
  for (const auto& [name, value] : surroundings.environment) {
    ::setenv(name.c_str(), value.c_str(), 1);
  }
}

void add_rdma_options(CLI::App& verb, NodeOptions& options) {
  verb.add_flag_function(
      "--rdma,!--no-rdma", [&options](int64_t count) { options.rdma.rdma = count > 0; },
      "RDMA programs use the host's emulated NIC (default: wherever they can)");
  verb.add_option_function<std::string>(
          "--send", [&options](const std::string&) { options.rdma.send_emulated = true; },
          "'emulated': SENDs on MRC by Write-with-Immediate into a hidden ring")
      ->check(CLI::IsMember({"emulated"}));
}

/// Runs the command in a node, or a shell if there is none.
int run_in_node(const NodeOptions& options, const std::string& verb) {
  if (options.held) {
    throw InputError(
        "--held: found a lab that stays, whose time goes on for all: expected the command as exec: of a "
        "scenario with \"timing: held\"");
  }
  require_root(verb);
  const LabRecord record = choose_lab(options.lab);
  const bool several = !options.command.empty() && !is_node(record, options.node);
  if (options.command.empty()) require_node(record, options.node);
  // `down` ends what was started in a node, too.
  const std::string variable = instance_variable(record.instance);
  const size_t equals = variable.find('=');
  ::setenv(variable.substr(0, equals).c_str(), variable.substr(equals + 1).c_str(), 1);
  const RdmaHosts rdma(record, options.rdma);
  if (several) {
    return run_in_nodes(record, nodes_named(record, options.node), options.command, options.jobs,
                        rdma);
  }
  const auto ns = netio::NetworkNamespace::open(namespace_name(record.lab, options.node));
  netio::NodeContainer node = node_container(LabPaths{}.lab_directory(record.lab), options.node);
  surround(node, rdma.at(options.node));
  print_ways(record, options);
  return netio::exec_in_node(node, ns, options.command.empty() ? shell_in(node) : options.command);
}

}  // namespace

void add_node_verbs(CLI::App& app, CliResult& result) {
  auto run = std::make_shared<NodeOptions>();  // shared with the callback, which outlives this
  CLI::App* exec = add_verb(app, "exec");
  exec->add_option("NODE", run->node,
                   "a node: h0, p2.t0-1; or several: h0,h3, 'h[0-3]', 'p0.t0-*', all")
      ->required();
  exec->add_option("COMMAND", run->command, "what to run, after --")->required();
  exec->add_option("--lab", run->lab, "which lab (default: the only one)");
  exec->add_option("--jobs", run->jobs, "of several nodes so many at a time")
      ->check(CLI::Range(size_t{1}, size_t{256}))
      ->capture_default_str();
  add_rdma_options(*exec, *run);
  exec->add_flag("--held", run->held,
                 "refused: programs are held in a scenario, by \"timing: held\"");
  exec->footer(
      "The exit code is the command's; of several nodes the highest, each line of output begins "
      "with its node, and those that failed are listed.\n"
      "Ordinary traffic of two hosts uses all planes, a flow one of them; which: mrclab trace h0 "
      "h5.\n"
      "An RDMA program needs no words of its own; h0 to h7 are names for its own connections, too.\n"
      "Example: sudo mrclab exec h0 -- ping -c 3 h5\n"
      "         sudo mrclab exec 'h[0-3]' -- ip -br link\n"
      "         sudo mrclab exec h0 -- ib_write_bw &\n"
      "         sudo mrclab exec h1 -- ib_write_bw h0");
  exec->callback([run, &result] { result.code = run_in_node(*run, "exec"); });

  auto shell = std::make_shared<NodeOptions>();
  CLI::App* sub = add_verb(app, "shell");
  sub->add_option("NODE", shell->node, "a node: h0, p2.t0-1")->required();
  sub->add_option("--lab", shell->lab, "which lab (default: the only one)");
  add_rdma_options(*sub, *shell);
  sub->footer("Example: sudo mrclab shell p0.t0-0");
  sub->callback([shell, &result] { result.code = run_in_node(*shell, "shell"); });
}

}  // namespace mrclab::lab
