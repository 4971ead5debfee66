// up, down, ls, inspect.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "fabric/topology/fabric_file.h"
#include "fabric/topology/fare.h"
#include "fabric/topology/pattern.h"
#include "lab/bringup/bring_up.h"
#include "lab/bringup/describe.h"
#include "lab/bringup/link_states.h"
#include "lab/cli/cli.h"
#include "lab/cli/cli_choice.h"
#include "lab/console/json_print.h"
#include "lab/console/root_rights.h"
#include "lab/console/stopwatch.h"
#include "lab/console/switch_rows.h"
#include "lab/console/terminal.h"
#include "lab/external/switch_table.h"
#include "lab/resident/clock_text.h"
#include "lab/resident/fault_text.h"
#include "lab/resident/labd_client.h"
#include "lab/resident/pause_text.h"
#include "lab/resident/resident.h"
#include "lab/run/run_folder.h"
#include "lab/run/run_manifest.h"
#include "lab/scenario/queue_pairs.h"
#include "lab/scenario/scenario.h"
#include "lab/scenario/shipped_files.h"
#include "netio/kernel/open_vswitch.h"
#include "netio/kernel/output_folder.h"
#include "netio/rpc/rpc.h"

namespace mrclab::lab {
namespace {

using nlohmann::json;

/// "octet" from topologies/fabrics/octet.yaml, with what a lab name cannot hold replaced.
std::string default_lab_name(const std::string& fabric) {
  std::string name;
  for (const char c : fabric) {
    const bool allowed = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    name += allowed ? c : '_';
  }
  return name.substr(0, 32);
}

/// "1 process", "2 processes".
std::string counted(size_t count, const std::string& noun, const std::string& plural = "s") {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : plural);
}

void print_report(const CleanUpReport& report, const std::string& what) {
  for (const std::string& problem : report.problems) fmt::print(stderr, "mrclab: {}\n", problem);
  if (!report.problems.empty()) return;
  fmt::print("{} down: {}, {} ended\n", what, counted(report.namespaces, "namespace"),
             counted(report.processes, "process", "es"));
}

/// Removes a lab that crashed, or is from before the last boot, without asking: no process uses it.
void make_room(const std::string& lab) {
  const std::optional<LabRecord> record = read_record({}, lab);
  if (!record || state_of(*record) == "up") return;
  fmt::print("lab {} was left behind by a process that died; removing it\n", lab);
  clean_up(lab);
}

struct UpOptions {
  std::string fabric;
  std::string scenario;
  std::string workload;  ///< YAML, or a file with it
  ResidentOptions resident;
};

Topology check_workload(UpOptions& options) {
  if (!options.scenario.empty()) {
    throw InputError("give --scenario or --workload, not both: a scenario has a workload");
  }
  std::error_code ignored;
  const bool file = std::filesystem::is_regular_file(options.workload, ignored);
  options.resident.workload = file ? netio::read_file(options.workload) : options.workload;
  return workload_scenario(options.resident.fabric_file, options.resident.workload).topology;
}

/// Finds and checks the files, before anything is started.
Topology check_files(UpOptions& options) {
  ResidentOptions& resident = options.resident;
  if (options.fabric.empty() && options.scenario.empty()) {
    throw InputError("name a fabric (pair, octet, hall, a file) or a --scenario");
  }
  if (!options.fabric.empty()) resident.fabric_file = find_fabric(options.fabric);
  if (resident.dilation) parse_dilation(*resident.dilation);
  if (!options.workload.empty()) return check_workload(options);
  if (options.scenario.empty()) {
    Topology topology = read_fabric_file(resident.fabric_file);
    check_lookahead(topology);
    return topology;
  }
  resident.scenario_file = find_scenario(options.scenario);
  ScenarioOverrides overrides;
  if (!options.fabric.empty()) overrides.fabric = resident.fabric_file;
  Scenario scenario = read_scenario_file(resident.scenario_file, overrides);
  if (scenario.payload_elided) {
    throw InputError("--scenario: found \"payload: elided\" in " + resident.scenario_file.string() +
                     ": expected real: programs in a lab that stays want their bytes");
  }
  if (!scenario.programs.empty()) {
    throw InputError("--scenario: found \"exec\" in " + resident.scenario_file.string() +
                     ": expected mrclab run: programs of a workload run there");
  }
  return std::move(scenario.topology);
}

int up_command(UpOptions options) {
  const Topology topology = check_files(options);
  std::string& lab = options.resident.lab;
  if (lab.empty()) lab = default_lab_name(topology.name);
  require_lab_name(lab);
  require_root("up");
  make_room(lab);
  const auto start = std::chrono::steady_clock::now();
  ProgressLine line;
  start_resident(options.resident, [&, last = std::string()](const BringUpStep& step) mutable {
    if (options.resident.verbose && last != step.what) {
      fmt::print(stderr, "mrclab: {:8.3f} s  {}: {}\n", seconds_since(start), last = step.what,
                 step.total);
    }
    line.show(fmt::format("{} {}/{}", step.what, step.done, step.total));
  });
  line.clear();
  fmt::print("lab {} is up: {} nodes, {} links, in {:.2f} s\n", lab, topology.nodes.size(),
             topology.links.size(), seconds_since(start));
  if (topology.has_forwarding(Forwarding::kOvs)) fmt::print("{}\n", netio::ovs_limits());
  const uint32_t last = topology.host_count() - 1;
  if (options.resident.paused) {
    fmt::print("time stands at 0; try:  mrclab clock step{0}, mrclab clock resume{0}\n",
               lab_option(lab));
  } else if (!options.workload.empty() || !options.scenario.empty()) {
    fmt::print(
        "try:  mrclab fault{} link_down p0.t0-0:u0 for=50us\n      mrclab inspect{} --faults\n",
        lab_option(lab), lab_word(lab));
  } else {
    fmt::print("try:  mrclab exec{} h0 -- ping -c 3 h{}\n", lab_option(lab), last);
  }
  return 0;
}

/// The manual faults of a lab as a scenario. Empty if there were none, or the lab cannot tell.
std::optional<std::string> session_of(const std::string& lab) {
  try {
    const json session =
        netio::RpcClient(control_socket({}, lab)).call("session", nullptr, std::chrono::seconds(2));
    if (session.at("changed").get<bool>()) return session.at("yaml").get<std::string>();
  } catch (const std::exception&) {  // it crashed, or ran nothing that could be repeated
  }
  return std::nullopt;
}

/// Keeps in a file what was done to the lab by hand, which would otherwise be gone with it.
void keep_session(const std::string& lab) {
  const std::optional<std::string> yaml = session_of(lab);
  if (!yaml) return;
  const auto folder = default_runs() / (lab + "-session");
  try {
    netio::OutputFolder::make(folder).write_file("scenario.yaml", *yaml);
    write_manifest(folder);
    fmt::print("{}: what was done to it by hand\n", (folder / "scenario.yaml").string());
  } catch (const netio::SystemError& error) {
    fmt::print(stderr, "mrclab: what was done to it by hand is not kept: {}\n", error.what());
  }
}

int down_command(const std::optional<std::string>& name, bool all) {
  require_root("down");
  if (all && name) throw InputError("give a lab's name or --all, not both");
  if (all) {
    const CleanUpReport report = clean_up_all();
    print_report(report, "everything is");
    return report.problems.empty() ? 0 : 3;
  }
  std::string lab = name.value_or("");
  if (lab.empty()) lab = choose_lab(name, "as NAME").lab;
  require_lab_name(lab);
  const std::vector<std::string> labs = recorded_labs({});
  // A folder without a readable record is a lab too: one that died while it was being written.
  if (std::find(labs.begin(), labs.end(), lab) == labs.end()) choose_lab(lab);
  keep_session(lab);
  const CleanUpReport report = clean_up(lab);
  print_report(report, "lab " + lab + " is");
  return report.problems.empty() ? 0 : 3;
}

/// Null for a lab that is owned by `run`, or does not answer, or is none of this user's.
json clock_of(const std::string& lab) {
  try {
    json state = netio::RpcClient(control_socket({}, lab))
                     .call("clock_state", nullptr, std::chrono::seconds(1));
    state.erase("outcome");
    return state;
  } catch (const std::exception&) {
    return json();
  }
}

int ls_command(bool as_json) {
  json list = json::array();
  std::vector<std::vector<std::string>> rows{
      {"LAB", "FABRIC", "NODES", "STATE", "OWNER", "FABRIC TIME"}};
  for (const std::string& lab : recorded_labs({})) {
    const std::optional<LabRecord> record = read_record({}, lab);
    if (!record) {
      rows.push_back({lab, "-", "-", "unfinished", "-", "-"});
      list.push_back({{"lab", lab}, {"state", "unfinished"}});
      continue;
    }
    const std::string state = state_of(*record);
    const json clock = state == "up" ? clock_of(lab) : json();
    rows.push_back({lab, record->fabric, std::to_string(record->nodes.size()), state,
                    std::to_string(record->owner.pid), clock.is_null() ? "-" : clock_line(clock)});
    list.push_back({{"lab", lab},
                    {"fabric", record->fabric},
                    {"nodes", record->nodes.size()},
                    {"state", state},
                    {"owner", record->owner.pid},
                    {"clock", clock}});
  }
  if (as_json) {
    fmt::print("{}\n", printed(list, "labs"));
  } else if (rows.size() == 1) {
    fmt::print("no lab is up\n");
  } else {
    fmt::print("{}", table(rows));
  }
  return 0;
}

struct InspectOptions {
  std::optional<std::string> name;
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
  if (!options.only.empty() && !options.down && fabric["nodes"].empty() &&
      fabric["links"].empty()) {
    throw InputError("--only: found " + in_quotes(options.only) +
                     ", which names no node and no link: expected a pattern such as p2.* or h3:p2");
  }
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
void tell_lab_from_node(InspectOptions& options) {
  if (!options.name || options.node) return;
  const std::vector<std::string> labs = recorded_labs({});
  if (std::find(labs.begin(), labs.end(), *options.name) != labs.end()) return;
  if (labs.size() != 1) return;
  const auto fabric = LabPaths{}.lab_directory(labs.front()) / "fabric.yaml";
  if (!read_fabric_file(fabric).find_node(*options.name)) return;
  options.node = std::exchange(options.name, std::nullopt);
}

int inspect_command(InspectOptions options) {
  tell_lab_from_node(options);
  const LabRecord record = choose_lab(options.name, "as NAME");
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
  fabric["clock"] = clock_of(record.lab);
  if (options.as_json) {
    fmt::print("{}\n", printed(fabric, "lab"));
    return 0;
  }
  if (!fabric["clock"].is_null()) fmt::print("fabric time {}\n", clock_line(fabric["clock"]));
  fmt::print("{}", fabric_text(fabric));
  return 0;
}

void add_up_and_down(CLI::App& app, CliResult& result) {
  auto up_options = std::make_shared<UpOptions>();  // shared with the callback, which outlives this
  CLI::App* up = app.add_subcommand("up", "Bring up a lab that stays");
  ResidentOptions& resident = up_options->resident;
  up->add_option("FABRIC", up_options->fabric,
                 "a shipped fabric (pair, octet, hall) or a file; with --scenario in its place");
  up->add_option("--scenario", up_options->scenario, "run this: a shipped incident or a file");
  up->add_option("--workload", up_options->workload,
                 "what the hosts do until 'down': YAML as in a scenario, or a file with it");
  up->add_option("--name", resident.lab, "the lab's name (default: the fabric's)");
  up->add_flag("--paused", resident.paused, "fabric time stands at 0 until told (see clock)");
  up->add_option("--dilation", resident.dilation,
                 "auto, or lab seconds per fabric second (default: 1000, or the scenario's)");
  up->add_flag("--isolate", resident.isolate, "one process per node");
  up->add_flag("-v,--verbose", resident.verbose,
               "each step on stderr, more in the logs under /run/mrclab/NAME");
  up->footer("Example: sudo mrclab up --scenario optic-glitch --paused");
  up->callback([up_options, &result] { result.code = up_command(*up_options); });

  auto name = std::make_shared<std::optional<std::string>>();
  auto all = std::make_shared<bool>(false);
  CLI::App* down = app.add_subcommand("down", "Take a lab down, also one that crashed");
  down->add_option("NAME", *name, "the lab (default: the only one)");
  down->add_flag("--all", *all, "every lab, and whatever else of ours is left");
  down->footer("Example: sudo mrclab down --all");
  down->callback([name, all, &result] { result.code = down_command(*name, *all); });
}

}  // namespace

void add_lab_verbs(CLI::App& app, CliResult& result) {
  add_up_and_down(app, result);

  auto list_json = std::make_shared<bool>(false);
  CLI::App* ls = app.add_subcommand("ls", "List labs");
  ls->add_flag("--json", *list_json, "as JSON");
  ls->footer("Example: mrclab ls");
  ls->callback([list_json, &result] { result.code = ls_command(*list_json); });

  auto options = std::make_shared<InspectOptions>();
  CLI::App* inspect = app.add_subcommand("inspect", "Show a lab's nodes, links, entropy values");
  inspect->add_option("NAME", options->name, "the lab (default: the only one)");
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
