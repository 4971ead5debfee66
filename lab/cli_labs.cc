// up, down, ls, inspect.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "fabric/fabric_file.h"
#include "lab/bring_up.h"
#include "lab/cli.h"
#include "lab/cli_choice.h"
#include "lab/describe.h"
#include "lab/link_states.h"
#include "lab/resident.h"
#include "lab/terminal.h"

namespace mrclab::lab {
namespace {

using nlohmann::json;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

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

/// What crashed, or is from before the last boot, is nobody's: it makes room by itself.
void make_room(const std::string& lab) {
  const std::optional<LabRecord> record = read_record({}, lab);
  if (!record || state_of(*record) == "up") return;
  fmt::print("lab {} was left behind by a process that died; removing it\n", lab);
  clean_up(lab);
}

struct UpOptions {
  std::string fabric;
  std::string name;
  bool isolate = false;
};

int up_command(const UpOptions& options) {
  const auto file = find_fabric(options.fabric);
  const Topology topology = read_fabric_file(file);
  check_lookahead(topology);
  const std::string lab = options.name.empty() ? default_lab_name(topology.name) : options.name;
  require_lab_name(lab);
  require_root("up");
  make_room(lab);
  const auto start = std::chrono::steady_clock::now();
  ProgressLine line;
  start_resident({file, lab, options.isolate}, [&line](const BringUpStep& step) {
    line.show(fmt::format("{} {}/{}", step.what, step.done, step.total));
  });
  line.clear();
  fmt::print("lab {} is up: {} nodes, {} links, in {:.2f} s\n", lab, topology.nodes.size(),
             topology.links.size(), seconds_since(start));
  const uint32_t last = topology.host_count() - 1;
  fmt::print("try:  mrclab exec h0 -- ping -c 3 h{}\n", last);
  return 0;
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
  if (lab.empty()) lab = choose_lab(name).lab;
  require_lab_name(lab);
  const std::vector<std::string> labs = recorded_labs({});
  // A folder without a readable record is a lab too: one that died while it was being written.
  if (std::find(labs.begin(), labs.end(), lab) == labs.end()) choose_lab(lab);
  const CleanUpReport report = clean_up(lab);
  print_report(report, "lab " + lab + " is");
  return report.problems.empty() ? 0 : 3;
}

int ls_command(bool as_json) {
  json list = json::array();
  std::vector<std::vector<std::string>> rows{{"LAB", "FABRIC", "NODES", "STATE", "OWNER"}};
  for (const std::string& lab : recorded_labs({})) {
    const std::optional<LabRecord> record = read_record({}, lab);
    if (!record) {
      rows.push_back({lab, "-", "-", "unfinished", "-"});
      list.push_back({{"lab", lab}, {"state", "unfinished"}});
      continue;
    }
    const std::string state = state_of(*record);
    rows.push_back({lab, record->fabric, std::to_string(record->nodes.size()), state,
                    std::to_string(record->owner.pid)});
    list.push_back({{"lab", lab},
                    {"fabric", record->fabric},
                    {"nodes", record->nodes.size()},
                    {"state", state},
                    {"owner", record->owner.pid}});
  }
  if (as_json) {
    fmt::print("{}\n", list.dump(1));
  } else if (rows.size() == 1) {
    fmt::print("no lab is up\n");
  } else {
    fmt::print("{}", table(rows));
  }
  return 0;
}

struct InspectOptions {
  std::optional<std::string> name;
  std::vector<std::string> evs;  ///< empty, or two hosts
  bool as_json = false;
};

uint32_t host_number(const Topology& topology, const std::string& name) {
  const std::optional<NodeId> node = topology.find_node(name);
  if (!node || topology.node(*node).role != NodeRole::kHost) {
    throw InputError(fmt::format("'{}' is no host of this fabric; hosts are h0 to h{}", name,
                                 topology.host_count() - 1));
  }
  return topology.node(*node).index;
}

int inspect_command(const InspectOptions& options) {
  const LabRecord record = choose_lab(options.name);
  const Topology topology = read_fabric_file(LabPaths{}.lab_directory(record.lab) / "fabric.yaml");
  if (!options.evs.empty()) {
    const uint32_t from = host_number(topology, options.evs[0]);
    const uint32_t to = host_number(topology, options.evs[1]);
    if (from == to) throw InputError("entropy values lead from one host to another");
    const json paths = describe_paths(topology, from, to);
    fmt::print("{}", options.as_json ? paths.dump(1) + "\n" : paths_text(paths));
    return 0;
  }
  require_root("inspect");
  const std::vector<bool> up = link_states(topology, record.lab);
  const json fabric =
      describe_fabric(topology, record.lab, [&up](LinkId link) { return up[link.value]; });
  fmt::print("{}", options.as_json ? fabric.dump(1) + "\n" : fabric_text(fabric));
  return 0;
}

void add_up_and_down(CLI::App& app, CliResult& result) {
  auto up_options = std::make_shared<UpOptions>();  // shared with the callback, which outlives this
  CLI::App* up = app.add_subcommand("up", "Bring up a lab that stays");
  up->add_option("FABRIC", up_options->fabric, "a shipped fabric (pair, octet, hall) or a file")
      ->required();
  up->add_option("--name", up_options->name, "the lab's name (default: the fabric's)");
  up->add_flag("--isolate", up_options->isolate, "one process per node");
  up->footer("Example: sudo mrclab up octet --name first");
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
  inspect->add_option("--evs", options->evs, "entropy values from one host to another")
      ->expected(2)
      ->type_name("FROM TO");
  inspect->add_flag("--json", options->as_json, "as JSON");
  inspect->footer("Example: sudo mrclab inspect octet --evs h0 h5");
  inspect->callback([options, &result] { result.code = inspect_command(*options); });
}

}  // namespace mrclab::lab
