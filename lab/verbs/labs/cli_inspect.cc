// inspect: a lab's nodes and links, tables, queue pairs, paths, pauses, faults.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "console/json_print.h"
#include "console/pause_text.h"
#include "console/root_rights.h"
#include "console/switch_rows.h"
#include "fabric/text/name_pattern.h"
#include "fabric/topology/fabric_file.h"
#include "fabric/topology/fare.h"
#include "lab/persistent/clock_text.h"
#include "lab/persistent/fault_text.h"
#include "lab/persistent/lab_choice.h"
#include "lab/persistent/labd_client.h"
#include "lab/persistent/persistent.h"
#include "lab/verbs/cli.h"
#include "live/inspect/describe.h"
#include "live/inspect/link_states.h"
#include "live/inspect/switch_table.h"
#include "netio/kernel/open_vswitch.h"
#include "netio/rpc/rpc.h"
#include "recorded/folder/run_manifest.h"
#include "scenario/spec/queue_pairs.h"
#include "scenario/spec/scenario.h"
#include "scenario/spec/shipped_files.h"

namespace mrclab::lab {
namespace {

using nlohmann::json;

struct InspectOptions {
  std::optional<std::string> name;
  std::optional<std::string> lab;
  std::optional<std::string> node;  ///< whose table is shown, or whose pauses
  std::vector<std::string> evs;     ///< empty, or two hosts
  bool qps = false;
  bool history = false;
  bool faults = false;
  bool pauses = false;
  std::string only;  ///< a pattern; empty: all nodes and links
  bool down = false;
  bool as_json = false;
};

bool is_wanted(const InspectOptions& options, const std::string& name) {
  if (options.only.empty() || matches_pattern(options.only, name)) return true;
  // A link's name is that of both its ports, and each is one of a node: any of these will do.
  for (size_t at = 0; at <= name.size();) {
    const size_t dashes = std::min(name.find("--", at), name.size());
    if (names_port(options.only, name.substr(at, dashes - at))) return true;
    at = dashes + 2;
  }
  return false;
}

/// Nodes and links that the pattern names; with --down links that are down, and no nodes.
void leave_out_others(const InspectOptions& options, json& fabric) {
  if (!options.only.empty()) {
    std::vector<std::string> names;
    for (const char* list : {"nodes", "links"}) {
      for (const json& item : fabric[list]) names.push_back(item.at("name"));
    }
    check_only(options.only, names, "node and no link");
  }
  const auto keep = [&](json& list, auto&& wanted) {
    json kept = json::array();
    for (json& item : list) {
      if (wanted(item)) kept.push_back(std::move(item));
    }
    list = std::move(kept);
  };
  keep(fabric["nodes"],
       [&](const json& node) { return !options.down && is_wanted(options, node.at("name")); });
  keep(fabric["links"], [&](const json& link) {
    return is_wanted(options, link.at("name")) && !(options.down && link.at("up").get<bool>());
  });
}

uint32_t host_number(const Topology& topology, const std::string& name) {
  const std::optional<NodeId> node = topology.find_node(name);
  if (!node || topology.node(*node).role != NodeRole::kHost) {
    throw InputError(fmt::format("'{}' is no host of this fabric; hosts are h0 to h{}", name,
                                 topology.host_count() - 1));
  }
  return topology.node(*node).index;
}

int inspect_qps(const std::string& lab, bool as_json) {
  const auto file = LabPaths{}.lab_directory(lab) / kScenarioFile;
  if (!std::filesystem::exists(file)) {
    throw InputError("lab '" + lab + "' runs no scenario, so it has no queue pairs");
  }
  const json pairs = describe_queue_pairs(read_scenario_file(file));
  fmt::print("{}", as_json ? printed(pairs, "queue-pairs") + "\n" : queue_pairs_text(pairs));
  return 0;
}

/// Shows all ports of the node that was asked for; of all nodes together, those ports that sent or took a pause.
int inspect_pauses(const LabRecord& record, const std::string& node, bool as_json) {
  require_root("inspect");
  const json pauses = pauses_of(connect_to_labd(record).call("pauses"), node);
  fmt::print("{}", as_json ? printed(pauses, "pauses") + "\n" : pauses_text(pauses, !node.empty()));
  return 0;
}

int inspect_switch(const Topology& topology, const LabRecord& record, const std::string& name,
                   bool as_json) {
  const std::optional<NodeId> node = topology.find_node(name);
  const bool host = node && topology.node(*node).role == NodeRole::kHost;
  if (!node || (host && nic_routes(topology) == NicRoutes::kOff)) {
    throw InputError(fmt::format("'{}' is no switch of lab {}: expected one such as {}", name,
                                 record.lab, record.nodes.back()));
  }
  require_root("inspect");
  const json table = switch_table(topology, record, *node);
  fmt::print("{}", as_json ? printed(table, "switch-table") + "\n" : switch_table_text(table));
  const bool ovs = topology.node(*node).forwarding == Forwarding::kOvs;
  if (ovs && !as_json) fmt::print("{}\n", netio::ovs_limits());
  return 0;
}

/// One name alone may be that of a switch in the only lab.
void take_name_as_node(InspectOptions& options) {
  if (!options.name || options.node) return;
  if (options.lab) {
    options.node = std::exchange(options.name, std::nullopt);
    return;
  }
  const std::vector<std::string> labs = recorded_labs({});
  if (std::find(labs.begin(), labs.end(), *options.name) != labs.end()) return;
  if (labs.size() != 1) return;
  const auto fabric = LabPaths{}.lab_directory(labs.front()) / "fabric.yaml";
  if (!read_fabric_file(fabric).find_node(*options.name)) return;
  options.node = std::exchange(options.name, std::nullopt);
}

int inspect_command(InspectOptions options) {
  take_name_as_node(options);
  const LabRecord record = choose_lab(named_lab(options.name, options.lab), "as NAME");
  const Topology topology = read_fabric_file(LabPaths{}.lab_directory(record.lab) / "fabric.yaml");
  if (options.pauses) return inspect_pauses(record, options.node.value_or(""), options.as_json);
  if (options.node) return inspect_switch(topology, record, *options.node, options.as_json);
  if (!options.evs.empty()) {
    const uint32_t from = host_number(topology, options.evs[0]);
    const uint32_t to = host_number(topology, options.evs[1]);
    if (from == to) throw InputError("entropy values lead from one host to another");
    const json paths = describe_paths(topology, from, to);
    fmt::print("{}", options.as_json ? printed(paths, "paths") + "\n" : paths_text(paths));
    return 0;
  }
  if (options.qps) return inspect_qps(record.lab, options.as_json);
  require_root("inspect");
  if (options.history) {
    const json history = netio::RpcClient(control_socket({}, record.lab)).call("history");
    fmt::print("{}", options.as_json ? printed(history, "history") + "\n" : history_text(history));
    return 0;
  }
  if (options.faults) {
    const json faults = connect_to_labd(record).call("faults");
    fmt::print("{}", options.as_json ? printed(faults, "faults") + "\n" : faults_text(faults));
    return 0;
  }
  const std::vector<bool> up = link_states(topology, record.lab);
  json fabric =
      describe_fabric(topology, record.lab, [&up](LinkId link) { return up[link.value]; });
  leave_out_others(options, fabric);
  fabric["clock"] = clock_state_of(record.lab);
  if (options.as_json) {
    fmt::print("{}\n", printed(fabric, "lab"));
    return 0;
  }
  if (!fabric["clock"].is_null()) fmt::print("fabric time {}\n", clock_line(fabric["clock"]));
  fmt::print("{}", fabric_text(fabric));
  return 0;
}

}  // namespace

void add_inspect_verb(CLI::App& app, CliResult& result) {
  auto options = std::make_shared<InspectOptions>();
  CLI::App* inspect = add_verb(app, "inspect");
  inspect->add_option("NAME", options->name, "the lab (default: the only one)");
  inspect->add_option("--lab", options->lab, "the same as NAME");
  inspect->add_option(
      "NODE", options->node,
      "a switch (p2.t0-1): its forwarding table, with counters; or a host whose NIC speaks BGP");
  inspect->add_flag("--pauses", options->pauses,
                    "pause frames, paused ports, buffers, the watchdog; of one NODE all ports");
  inspect->add_option("--evs", options->evs, "entropy values from one host to another")
      ->expected(2)
      ->type_name("FROM TO");
  inspect->add_flag("--qps", options->qps, "queue pairs of the lab's scenario");
  inspect->add_flag("--history", options->history,
                    "digest of the scenario's packet history so far");
  inspect->add_flag("--faults", options->faults, "faults: of the scenario, by hand, from outside");
  inspect->add_option("--only", options->only,
                      "nodes and links with this name or pattern: 'p2.*', h3, 'h*:p0'");
  inspect->add_flag("--down", options->down, "links that are down");
  inspect->add_flag("--json", options->as_json, "as JSON");
  inspect->footer(
      "Example: sudo mrclab inspect octet --evs h0 h5, sudo mrclab inspect p2.t0-1\n"
      "         sudo mrclab inspect --only 'p0.t0-*' --down");
  inspect->callback([options, &result] { result.code = inspect_command(*options); });
}

}  // namespace mrclab::lab
