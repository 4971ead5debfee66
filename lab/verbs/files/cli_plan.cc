// `plan`: bill of materials, routes, entropy values and addresses of a fabric of any size.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "console/json_print.h"
#include "console/progress.h"
#include "fabric/topology/fabric_file.h"
#include "fabric/topology/path.h"
#include "lab/verbs/cli.h"
#include "live/inspect/describe.h"
#include "plan/fabric_plan.h"
#include "plan/fabric_plan_text.h"
#include "plan/graph_plan.h"
#include "plan/mapper_plan.h"
#include "plan/nic_routes.h"
#include "plan/node_addresses.h"
#include "plan/simulation_plan.h"
#include "scenario/spec/shipped_files.h"

namespace mrclab::lab {
namespace {

constexpr uint64_t kMaxPlannedNodes = 1u << 20;  // any fabric that has uSIDs

struct PlanOptions {
  PlanRequest request;
  std::string fabric, port_rate, address_plan, node, ev, routing;
  uint64_t job = 1024;
  std::optional<uint32_t> host, to;
  bool simulate = false, mapper = false, json = false, csv = false;
};

FabricShape shape_of(PlanOptions& options) {
  if (!options.fabric.empty()) {
    return parse_fabric(read_yaml_file(find_fabric(options.fabric)), kMaxPlannedNodes);
  }
  if (!options.port_rate.empty()) {
    options.request.port_rate = read_yaml_text("value: " + options.port_rate + "\n", "--port-rate")
                                    .require("value")
                                    .as_rate();
  }
  if (!options.address_plan.empty()) {
    options.request.address_plan =
        options.address_plan == "lab" ? AddressPlan::kLab : AddressPlan::kFull;
  }
  return shape_of(options.request);
}

/// "0x0007c0ff" or "p7/u255".
Path wanted_path(const std::string& text) {
  if (const auto path = parse_path(text)) return *path;
  EntropyValue ev;
  if (text.starts_with("0x")) {
    const char* end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data() + 2, end, ev.value, 16);
    if (error == std::errc{} && stopped == end) {
      if (const auto path = path_of(ev)) return *path;
    }
  }
  throw InputError("--ev: found " + in_quotes(text) +
                   ", which is no path: expected an entropy value such as 0x0003c007, or p3/u7");
}

void print_paths(const Topology& outline, const PlanOptions& options) {
  for (const uint32_t host : {*options.host, *options.to}) {
    if (host < outline.host_count()) continue;
    throw InputError(
        fmt::format("found host {}: expected 0 to {}", host, outline.host_count() - 1));
  }
  if (*options.host == *options.to) throw InputError("found one host twice: expected two hosts");
  nlohmann::json paths = describe_paths(outline, *options.host, *options.to);
  if (!options.ev.empty()) {
    const std::string wanted = to_string(wanted_path(options.ev));
    nlohmann::json one = nlohmann::json::array();
    for (const auto& path : paths) {
      if (path.at("path") == wanted) one.push_back(path);
    }
    if (one.empty()) {
      throw InputError(fmt::format("h{} and h{} have no path {}: expected {} to {}", *options.host,
                                   *options.to, wanted, paths.front().at("path").get<std::string>(),
                                   paths.back().at("path").get<std::string>()));
    }
    paths = one;
  }
  if (options.csv) {
    fmt::print("ev,path,carrier\n");
    for (const auto& path : paths) {
      fmt::print("{},{},{}\n", path.at("ev").get<std::string>(), path.at("path").get<std::string>(),
                 path.at("carrier").get<std::string>());
    }
    return;
  }
  fmt::print("{}", options.json ? printed(paths, "plan-paths") + "\n" : paths_text(paths));
}

void print_addresses(const Topology& outline, const PlanOptions& options) {
  const std::string node = options.host ? fmt::format("h{}", *options.host) : options.node;
  const std::vector<AddressRow> rows = node_addresses(outline, node);
  if (options.csv) {
    fmt::print("{}", addresses_csv(node, rows));
  } else if (!options.json) {
    fmt::print("{}", addresses_table(rows));
  } else {
    nlohmann::ordered_json answer{{"node", node}, {"addresses", nlohmann::ordered_json::array()}};
    for (const AddressRow& row : rows) {
      answer["addresses"].push_back({{"port", row.port},
                                     {"prefix", prefix_text(row)},
                                     {"action", name_of(row.action)},
                                     {"to", row.to}});
    }
    fmt::print("{}\n", printed(answer, "plan"));
  }
}

int plan_command(PlanOptions& options) {
  const FabricShape shape = shape_of(options);
  if (options.simulate) {
    const SimulationPlan plan = while_ticking("simulating small fabrics of its kind", "",
                                              [&] { return plan_simulation(shape); });
    fmt::print("{}", options.json ? printed(simulation_json(plan), "plan-simulation") + "\n"
                                  : simulation_text(plan));
    return 0;
  }
  if (options.mapper) {
    const MapperPlan plan = plan_mapper(shape);
    fmt::print("{}", options.json ? printed(mapper_plan_json(plan), "plan-mapper") + "\n"
                                  : mapper_plan_text(plan));
    return 0;
  }
  const BitRate capacity = options.request.radix == 0
                               ? kSwitchCapacity
                               : BitRate{options.request.radix * shape.host_rate.bps};
  const FabricPlan plan = plan_any_fabric(shape, capacity);
  if (!options.routing.empty()) {
    const NicRoutePlan routes = plan_nic_routes(plan, options.job);
    fmt::print("{}", options.json ? printed(nic_routes_json(routes), "plan-routes") + "\n"
                                  : nic_routes_text(routes));
  } else if (options.to) {
    print_paths(plan.outline, options);
  } else if (options.host || !options.node.empty()) {
    print_addresses(plan.outline, options);
  } else if (options.csv) {
    throw InputError("--csv is the address plan of one node: expected --node or --host beside it");
  } else {
    fmt::print("{}", options.json ? printed(plan_json(plan), "plan") + "\n" : plan_text(plan));
  }
  return 0;
}

}  // namespace

void add_plan_verb(CLI::App& app, CliResult& result) {
  auto options = std::make_shared<PlanOptions>();  // shared with the callback
  PlanRequest& request = options->request;
  CLI::App* plan = add_verb(app, "plan");
  CLI::Option* fabric = plan->add_option(
      "FABRIC", options->fabric,
      "a fabric's name or file; without one by the options (default: 131,072 hosts)");
  const auto size = [&](const char* name, auto& value, const char* about, auto max) {
    plan->add_option(name, value, about)
        ->check(CLI::Range(decltype(max){1}, max))
        ->excludes(fabric);
  };
  size("--hosts", request.hosts, "hosts in all; default 131072", uint64_t{1} << 32);
  size("--planes", request.planes, "ports of a NIC; default 8", uint32_t{16});
  size("--hosts-per-t0", request.hosts_per_t0, "default: half of the radix", kMaxRadix);
  size("--t1", request.t1, "T1s per plane; default: as many as hosts per T0", kMaxRadix);
  plan->add_option("--port-rate", options->port_rate, "of every port; default 100Gb/s")
      ->excludes(fabric);
  plan->add_option("--address-plan", options->address_plan, "lab or full; default: what has room")
      ->check(CLI::IsMember({"lab", "full"}))
      ->excludes(fabric);
  plan->add_option("--radix", request.radix, "ports of a switch; default: those of 51.2 Tb/s")
      ->check(CLI::Range(2u, kMaxRadix));
  CLI::Option* node =
      plan->add_option("--node", options->node, "the address plan of one node: p2.t0-5, h70000");
  CLI::Option* host = plan->add_option("--host", options->host, "the same of a host, by its number")
                          ->excludes(node);
  CLI::Option* to = plan->add_option("--to", options->to,
                                     "with --host: the EVs and carriers from it to this host")
                        ->needs(host);
  plan->add_option("--ev", options->ev, "with --to: only this EV (0x0003c007) or path (p3/u7)")
      ->needs(to);
  CLI::Option* routing =
      plan->add_option(
              "--routing", options->routing,
              "fare: routes of a NIC and of switches, for each reduction of what NICs receive")
          ->check(CLI::IsMember({"fare"}))
          ->excludes(node)
          ->excludes(host);
  plan->add_option("--job", options->job, "with --routing: hosts of a job; default 1024")
      ->check(CLI::Range(uint64_t{2}, uint64_t{1} << 32))
      ->needs(routing);
  CLI::Option* simulate =
      plan->add_flag("--simulate", options->simulate,
                     "memory and time that a simulation of it takes, by what small ones take here")
          ->excludes(node)
          ->excludes(host)
          ->excludes(routing);
  plan->add_flag(
          "--mapper", options->mapper,
          "probes of a mapper: cost, coverage, what they cannot tell apart, time to a finding")
      ->excludes(node)
      ->excludes(host)
      ->excludes(routing)
      ->excludes(simulate);
  CLI::Option* json = plan->add_flag("--json", options->json, "as JSON");
  plan->add_flag("--csv", options->csv, "as CSV, of a node or a pair of hosts")
      ->excludes(json)
      ->excludes(simulate);
  plan->footer("Example: mrclab plan --hosts 8192 --planes 4 --port-rate 200Gb/s");
  plan->callback([options, &result] { result.code = plan_command(*options); });
}

}  // namespace mrclab::lab
