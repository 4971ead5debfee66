// `perf`: what its verbs share. The verbs are in cli_perf_*.cc.

#include "lab/verbs/sweep/cli_perf.h"
#include "fabric/topology/build_topology.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "console/root_rights.h"
#include "endpoint/workload/stream.h"
#include "fabric/text/yaml.h"
#include "fabric/topology/fabric_file.h"
#include "fabric/topology/pattern.h"
#include "scenario/spec/scenario.h"
#include "scenario/spec/shipped_files.h"

namespace mrclab::lab {
namespace {

/// One value as it would stand in a file, so that files and options agree.
YamlValue value_of(const std::string& text, const std::string& option) {
  return read_yaml_text("value: " + text + "\n", option).require("value");
}

}  // namespace

void add_perf_options(CLI::App& verb, PerfOptions& options) {
  verb.add_option("FABRIC", options.fabric, "a shipped fabric (pair, octet, hall) or a file")
      ->capture_default_str();
  verb.add_option("--world", options.world,
                  "sim, or live: the same numbers, from packets in namespaces")
      ->check(CLI::IsMember({"live", "sim"}))
      ->capture_default_str();
  verb.add_option("--seed", options.seed, "of paths and identities")
      ->check(CLI::Range(uint64_t{0}, kMaxSeed))
      ->capture_default_str();
  verb.add_option("--transport", options.transport,
                  "as in a scenario: lab, or \"{profile: lab, active_evs: 64}\"")
      ->capture_default_str();
  verb.add_option("--out", options.out, "where run folders of --world live go")
      ->default_str("runs");
  verb.add_flag("--json", options.json, "print results as JSON");
}

PerfSetup perf_setup(const PerfOptions& options) {
  PerfSetup setup;
  setup.world = options.world == "live" ? World::kLive : World::kSim;
  setup.shape = parse_fabric(read_yaml_file(find_fabric(options.fabric)),
                             setup.world == World::kSim ? kMaxSimulatedNodes : kMaxNodes);
  if (options.mtu > 0) setup.shape.pmtu = options.mtu;
  setup.topology = build_topology(setup.shape);
  check_lookahead(setup.topology);
  if (!setup.topology.carries_time()) {
    throw InputError(
        fmt::format("in fabric {} others than our switches forward, and they carry no fabric time; "
                    "perf needs another",
                    setup.topology.name));
  }
  if (setup.topology.routing.is_fare()) {
    throw InputError(fmt::format(
        "in fabric {} switches route by themselves, and have no route when perf begins: "
        "perf needs another",
        setup.topology.name));
  }
  setup.seed = options.seed;
  setup.out = options.out;
  setup.transport = endpoint::parse_transport(
      read_yaml_text("transport: " + options.transport + "\n", "--transport")
          .with_rtt(setup.topology.base_rtt)
          .require("transport"),
      setup.topology);
  if (setup.world == World::kLive) require_root("perf --world live");
  return setup;
}

std::vector<uint32_t> perf_hosts(const PerfSetup& setup, const std::string& pattern) {
  NameResolver names(setup.topology, setup.seed);
  std::vector<uint32_t> hosts;
  try {
    for (const NodeId id : names.hosts(pattern)) {
      hosts.push_back(setup.topology.node(id).index);
    }
  } catch (const NameError& error) {
    throw InputError(fmt::format("found {}: expected {}", error.found(), error.expected()));
  }
  return hosts;
}

uint32_t perf_host(const PerfSetup& setup, const std::string& name, uint32_t otherwise) {
  if (name.empty()) return otherwise;
  const std::vector<uint32_t> hosts = perf_hosts(setup, name);
  if (hosts.size() != 1) throw InputError(fmt::format("'{}' is not one host", name));
  return hosts.front();
}

uint64_t perf_size(const std::string& text, const std::string& option) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string unit = text.substr(digits);
  if (digits == 0 || digits > 12) {
    throw InputError(
        fmt::format("{}: found '{}'; expected a size such as 65536 or 64K", option, text));
  }
  const uint64_t number = std::stoull(text.substr(0, digits));
  if (unit.empty()) return number;
  if (unit == "K" || unit == "k") return number << 10;
  if (unit == "M" || unit == "m") return number << 20;
  if (unit == "G" || unit == "g") return number << 30;
  return value_of(text, option).as_bytes().value;
}

FabricTime perf_time(const PerfSetup& setup, const std::string& text, const std::string& option) {
  // Our choice: the simulator takes an hour for it.
  constexpr FabricTime kLongest = FabricTime::from_ms(1'000);
  const YamlValue value = read_yaml_text("value: " + text + "\n", option)
                              .with_rtt(setup.topology.base_rtt)
                              .require("value");
  if (value.as_time() > kLongest) value.fail_expecting("at most " + exact(kLongest));
  return value.as_time();
}

Probability perf_share(const std::string& text, const std::string& option) {
  const Probability share = value_of(text, option).as_probability();
  if (share.ppb == 0) throw InputError(option + ": expected a share above 0%");
  return share;
}

double header_limited_gbps(const PerfSetup& setup, Bytes message) {
  const FabricTime time =
      endpoint::message_interval(message, setup.topology.pmtu, setup.topology.host_rate,
                                 setup.topology.planes, Probability{Probability::kOne});
  return static_cast<double>(message.value) * 8e3 / static_cast<double>(time.ps());
}

int perf_code(const PerfOutcome& outcome) {
  if (outcome.bytes_wrong > 0) {
    fmt::print(stderr, "mrclab: {} of {} bytes arrived wrong\n", outcome.bytes_wrong,
               outcome.bytes_verified);
  }
  if (outcome.qps_in_error > 0) {
    fmt::print(stderr, "mrclab: {} queue pairs failed{}\n", outcome.qps_in_error,
               outcome.first_error.empty() ? "" : "; the first: " + outcome.first_error);
  }
  if (outcome.bytes_wrong > 0 || outcome.qps_in_error > 0) return 1;
  if (outcome.faithful) return 0;
  fmt::print(stderr, "mrclab: this live run was not faithful; {} has the reason\n", outcome.folder);
  return 3;
}

void add_perf_verbs(CLI::App& app, CliResult& result) {
  CLI::App* perf = add_verb(app, "perf");
  perf->require_subcommand(0, 1);
  perf->callback([perf] {
    if (!perf->get_subcommands().empty()) return;
    std::string verbs;
    for (const CLI::App* verb : perf->get_subcommands([](const CLI::App*) { return true; })) {
      verbs += (verbs.empty() ? "" : ", ") + verb->get_name();
    }
    throw InputError("perf: expected one of " + verbs);
  });
  perf->footer("Example: mrclab perf write_bw octet --from h0 --to h5");
  add_perf_writes(*perf, result);
  add_perf_collectives(*perf, result);
  add_perf_flows(*perf, result);
}

}  // namespace mrclab::lab
