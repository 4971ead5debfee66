// exec, shell.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <memory>

#include "fabric/yaml.h"
#include "lab/cli.h"
#include "lab/cli_choice.h"
#include "lab/node_container_files.h"
#include "netio/node_container.h"

namespace mrclab::lab {
namespace {

struct NodeOptions {
  std::string node;
  std::optional<std::string> lab;
  std::vector<std::string> command;
};

void require_node(const LabRecord& record, const std::string& node) {
  if (std::find(record.nodes.begin(), record.nodes.end(), node) != record.nodes.end()) return;
  throw InputError(fmt::format("lab '{}' has no node '{}'; its nodes are {} to {}", record.lab,
                               node, record.nodes.front(), record.nodes.back()));
}

int run_in_node(const NodeOptions& options, const std::string& verb) {
  require_root(verb);
  const LabRecord record = choose_lab(options.lab);
  require_node(record, options.node);
  // `down` ends what was started in a node, too.
  const std::string variable = instance_variable(record.instance);
  const size_t equals = variable.find('=');
  ::setenv(variable.substr(0, equals).c_str(), variable.substr(equals + 1).c_str(), 1);
  const auto ns = netio::NetworkNamespace::open(namespace_name(record.lab, options.node));
  const LabPaths paths;
  return netio::exec_in_node(node_container(paths.lab_directory(record.lab), options.node), ns,
                             options.command);
}

}  // namespace

void add_node_verbs(CLI::App& app, CliResult& result) {
  auto run = std::make_shared<NodeOptions>();  // shared with the callback, which outlives this
  CLI::App* exec =
      app.add_subcommand("exec", "Run a command in a node; its exit code is passed on");
  exec->add_option("NODE", run->node, "a node: h0, p2.t0-1")->required();
  exec->add_option("COMMAND", run->command, "what to run, after --")->required();
  exec->add_option("--lab", run->lab, "which lab (default: the only one)");
  exec->footer("Example: sudo mrclab exec h0 -- ping -c 3 h5");
  exec->callback([run, &result] { result.code = run_in_node(*run, "exec"); });

  auto shell = std::make_shared<NodeOptions>();
  CLI::App* sub = app.add_subcommand("shell", "Open a shell in a node");
  sub->add_option("NODE", shell->node, "a node: h0, p2.t0-1")->required();
  sub->add_option("--lab", shell->lab, "which lab (default: the only one)");
  sub->footer("Example: sudo mrclab shell p0.t0-0");
  sub->callback([shell, &result] {
    const char* preferred = std::getenv("SHELL");
    shell->command = {preferred != nullptr && *preferred != '\0' ? preferred : "/bin/sh"};
    result.code = run_in_node(*shell, "shell");
  });
}

}  // namespace mrclab::lab
