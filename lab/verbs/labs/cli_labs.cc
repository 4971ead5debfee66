// up, down, ls.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "console/json_print.h"
#include "console/root_rights.h"
#include "console/stopwatch.h"
#include "console/terminal.h"
#include "fabric/text/counted_noun.h"
#include "fabric/text/yaml.h"
#include "fabric/topology/fabric_file.h"
#include "lab/persistent/clock_text.h"
#include "lab/persistent/lab_choice.h"
#include "lab/persistent/labd_client.h"
#include "lab/persistent/persistent.h"
#include "lab/verbs/cli.h"
#include "lab/verbs/labs/metrics_exporter.h"
#include "live/bringup/bring_up.h"
#include "netio/kernel/open_vswitch.h"
#include "netio/rpc/rpc.h"
#include "netio/system/output_folder.h"
#include "recorded/folder/run_folder.h"
#include "recorded/folder/run_manifest.h"
#include "scenario/spec/scenario.h"
#include "scenario/spec/shipped_files.h"

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

void print_report(const CleanUpReport& report, const std::string& what) {
  for (const std::string& item : report.left_alone) {
    fmt::print(stderr, "mrclab: left alone: {}, which no lab has recorded as its own\n", item);
  }
  for (const std::string& problem : report.problems) fmt::print(stderr, "mrclab: {}\n", problem);
  if (!report.problems.empty()) return;
  fmt::print("{} down: {}, {} ended\n", what, counted_noun(report.namespaces, "namespace"),
             counted_noun(report.processes, "process"));
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
  PersistentOptions persistent;
  std::optional<std::string> metrics;  ///< the exporter's port; 0: any that is free
};

constexpr uint16_t kMetricsPort = 9464;  ///< OpenTelemetry's for Prometheus exporters

/// Without a number the usual port.
uint16_t metrics_port(const std::string& word) {
  if (word.empty() || word == "{}") return kMetricsPort;
  constexpr int64_t kMost = 65'535;
  return static_cast<uint16_t>(read_yaml_text(in_quotes(word), "--metrics").as_integer(0, kMost));
}

Topology check_workload(UpOptions& options) {
  if (!options.scenario.empty()) {
    throw InputError("give --scenario or --workload, not both: a scenario has a workload");
  }
  std::error_code ignored;
  const bool file = std::filesystem::is_regular_file(options.workload, ignored);
  options.persistent.workload = file ? netio::read_file(options.workload) : options.workload;
  return workload_scenario(options.persistent.fabric_file, options.persistent.workload).topology;
}

/// Finds and checks the files, before anything is started.
Topology check_files(UpOptions& options) {
  PersistentOptions& persistent = options.persistent;
  if (options.fabric.empty() && options.scenario.empty()) {
    throw InputError("name a fabric (pair, octet, hall, a file) or a --scenario");
  }
  if (!options.fabric.empty()) persistent.fabric_file = find_fabric(options.fabric);
  if (persistent.dilation) parse_dilation(*persistent.dilation);
  if (!options.workload.empty()) return check_workload(options);
  if (options.scenario.empty()) {
    Topology topology = read_fabric_file(persistent.fabric_file);
    check_lookahead(topology);
    return topology;
  }
  persistent.scenario_file = find_scenario(options.scenario);
  ScenarioOverrides overrides;
  if (!options.fabric.empty()) overrides.fabric = persistent.fabric_file;
  Scenario scenario = read_scenario_file(persistent.scenario_file, overrides);
  if (scenario.payload_elided) {
    throw InputError("--scenario: found \"payload: elided\" in " +
                     persistent.scenario_file.string() +
                     ": expected real: programs in a lab that stays need their bytes");
  }
  if (!scenario.programs.empty()) {
    throw InputError("--scenario: found \"exec\" in " + persistent.scenario_file.string() +
                     ": expected mrclab run: programs of a workload run there");
  }
  return std::move(scenario.topology);
}

int up_command(UpOptions options) {
  std::optional<uint16_t> port;
  if (options.metrics) port = metrics_port(*options.metrics);
  const Topology topology = check_files(options);
  std::string& lab = options.persistent.lab;
  if (lab.empty()) lab = default_lab_name(topology.name);
  require_lab_name(lab);
  require_root("up");
  make_room(lab);
  const auto start = std::chrono::steady_clock::now();
  ProgressLine line;
  start_persistent(options.persistent, [&, last = std::string()](const BringUpStep& step) mutable {
    if (options.persistent.verbose && last != step.what) {
      fmt::print(stderr, "mrclab: {:8.3f} s  {}: {}\n", seconds_since(start), last = step.what,
                 step.total);
    }
    line.show(fmt::format("{} {}/{}", step.what, step.done, step.total));
  });
  line.clear();
  fmt::print("lab {} is up: {} nodes, {} links, in {:.2f} s\n", lab, topology.nodes.size(),
             topology.links.size(), seconds_since(start));
  if (port) fmt::print("metrics  {}\n", start_metrics_exporter(lab, *port));
  if (topology.has_forwarding(Forwarding::kOvs)) fmt::print("{}\n", netio::ovs_limits());
  const uint32_t last = topology.host_count() - 1;
  if (options.persistent.paused) {
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

/// The manual faults of a lab as a scenario. Empty if there were none, or the lab does not answer.
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
  const bool is_lab = report.left_alone.empty();
  print_report(report, is_lab ? "lab " + lab + " is" : "nothing is");
  return is_lab && report.problems.empty() ? 0 : 3;
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
    const json clock = state == "up" ? clock_state_of(lab) : json();
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

void add_up_and_down(CLI::App& app, CliResult& result) {
  auto up_options = std::make_shared<UpOptions>();  // shared with the callback, which outlives this
  CLI::App* up = add_verb(app, "up");
  PersistentOptions& persistent = up_options->persistent;
  up->add_option("FABRIC", up_options->fabric,
                 "a shipped fabric (pair, octet, hall) or a file; with --scenario in its place");
  up->add_option("--scenario", up_options->scenario, "run this: a shipped incident or a file");
  up->add_option("--workload", up_options->workload,
                 "what the hosts do until 'down': YAML as in a scenario, or a file with it");
  up->add_option("--name", persistent.lab, "the lab's name (default: the fabric's)");
  up->add_flag("--paused", persistent.paused, "fabric time stands at 0 until resumed (see clock)");
  up->add_option("--dilation", persistent.dilation,
                 "auto, or lab seconds per fabric second (default: 1000, or the scenario's)");
  up->add_option("--metrics", up_options->metrics,
                 "answers GET /metrics at this port until the lab is down (9464; 0: any that is "
                 "free)")
      ->expected(0, 1)
      ->type_name("[PORT]");
  up->add_flag("--isolate", persistent.isolate, "one process per node");
  up->add_flag("-v,--verbose", persistent.verbose,
               "each step on stderr, more in the logs under /run/mrclab/NAME");
  up->footer("Example: sudo mrclab up --scenario optic-glitch --paused");
  up->callback([up_options, &result] { result.code = up_command(*up_options); });

  auto name = std::make_shared<std::optional<std::string>>();
  auto all = std::make_shared<bool>(false);
  CLI::App* down = add_verb(app, "down");
  auto option = std::make_shared<std::optional<std::string>>();
  down->add_option("NAME", *name, "the lab (default: the only one)");
  down->add_option("--lab", *option, "the same as NAME");
  down->add_flag("--all", *all, "every lab, and whatever else of ours is left");
  down->footer("Example: sudo mrclab down --all");
  down->callback([name, option, all, &result] {
    result.code = down_command(named_lab(*name, *option), *all);
  });
}

}  // namespace

void add_lab_verbs(CLI::App& app, CliResult& result) {
  add_up_and_down(app, result);

  auto list_json = std::make_shared<bool>(false);
  CLI::App* ls = add_verb(app, "ls");
  ls->add_flag("--json", *list_json, "as JSON");
  ls->footer("Example: mrclab ls");
  ls->callback([list_json, &result] { result.code = ls_command(*list_json); });
}

}  // namespace mrclab::lab
