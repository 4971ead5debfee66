// Switches that a BPF program forwards for: marks and trims by the account of what shapers have left to send, what faults
// do to them, and what `inspect` shows.

#include "live/external/bpf_switches.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "analysis/traffic/traffic_reader.h"
#include "fabric/text/yaml.h"
#include "fabric/topology/fabric_file.h"
#include "lab/run/scenario_run.h"
#include "live/external/foreign_switches.h"
#include "switchd/bpf/usid_switch.h"
#include "tests/lab/support/sandbox.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/support/texts.h"

namespace mrclab::lab {
namespace {

/// Seven hosts of a rack begin to write to one of another at once: more than its links take.
Scenario incast(const std::string& rest) {
  return parse_scenario(read_yaml_text(R"(
name: incast-in-the-kernel
fabric: {name: racks, planes: 2, t0: 2, t1: 2, hosts_per_t0: 8, host_rate: 100Gb/s, forwarding: bpf}
timing: wall
dilation: 40000
workload:
  - incast: {from: "h[8-9], h10, h11, h12, h13, h14", to: h0, load: 100%, message: 8KiB}
end: 120us
)" + rest,
                                       "incast.yaml"));
}

/// Data packets that arrived with a mark before `until`, as the captures of the hosts show.
uint64_t marked(const RunResult& run, FabricTime until = FabricTime::never()) {
  analysis::TrafficInput input;
  input.filter.until = until;
  for (const auto& entry : std::filesystem::directory_iterator(run.folder.path / "captures")) {
    input.files.push_back(entry.path());
  }
  uint64_t all = 0;
  for (const auto& plane : analysis::analyze_traffic(input).planes) all += plane.marked;
  return all;
}

/// How often the lab reported an event of this kind.
size_t told(const RunResult& run, std::string_view kind) {
  std::ifstream file(run.folder.path / "events.jsonl");
  size_t count = 0;
  for (std::string line; std::getline(file, line);) {
    count += nlohmann::json::parse(line).at("kind") == kind ? 1 : 0;
  }
  return count;
}

}  // namespace

TEST_CASE("faults of trimming and marks impairment the ports of a switch that trims and marks") {
  const Topology topology = incast("").topology;
  const NodeId spine = *topology.find_node("p0.t1-0");
  const auto first_port = [&](const std::vector<Effect>& effects) {
    return impairment_of(topology, spine, effects).ports.front();
  };
  CHECK(first_port({SwitchTrim{spine, true}}).trim_off);
  CHECK(first_port({SwitchEcn{spine, EcnKind::kAlways}}).ecn == EcnKind::kAlways);
  CHECK(first_port({SwitchTrim{*topology.find_node("p0.t1-1"), true}}) == PortImpairment{});
}

TEST_CASE("what a program in the kernel cannot forward is refused with its place and the reason") {
  const auto refused = [](const std::string& more) -> std::string {
    try {
      parse_fabric(
          read_yaml_text("name: f\nplanes: 1\nt0: 2\nt1: 2\nhosts_per_t0: 2\n"
                         "forwarding: bpf\n" +
                             more,
                         "f.yaml"));
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  CHECK(refused("") == "accepted");
  CHECK(test::mentions(refused("routing: fare\n"), "fare, beside \"forwarding: bpf\""));
  CHECK(test::mentions(refused("routing: ecmp\n"), "ecmp, beside \"forwarding: bpf\""));
  CHECK(test::mentions(refused("decap: leaf\n"), "does not strip IPv6 from IPv6"));
  CHECK(test::mentions(refused("wires: fast\n"), "expected veth"));
}

TEST_SUITE("root: switches in the kernel") {
  TEST_CASE("data that finds a long queue is marked and trimmed, and all of it arrives") {
    const test::TemporaryRuns folder;
    const RunResult run =
        run_scenario(incast("expect: [no_qp_error, memory_intact, {trims: {at_least: 1}}]\n"),
                     folder.options(World::kLive));
    CAPTURE(analysis::to_table(run.verdict));
    CHECK(run.verdict.result == analysis::Result::kPass);
    CHECK(run.verdict.metrics.trimmed > 0);
    CHECK(marked(run) > 0);
  }

  TEST_CASE(
      "a switch whose trimming and marking is off does neither, and is afterwards as before") {
    const test::TemporaryRuns folder;
    const RunResult run = run_scenario(incast(R"(
faults:
  - {at: 0us, trim_off: {switch: "p*.t*", for: 100us}}
  - {at: 0us, ecn_off: {switch: "p*.t*", for: 100us}}
expect: [{trims: {at_most: 0, until: 95us}}]
)"),
                                       folder.options(World::kLive));
    CAPTURE(analysis::to_table(run.verdict));
    CHECK(run.verdict.result == analysis::Result::kPass);
    // Behind the heals at 100 us the queues are still long.
    CHECK(marked(run, FabricTime::from_us(95)) == 0);
    const Topology topology = incast("").topology;
    size_t ports = 0;
    for (const NodeSite& site : topology.nodes) {
      if (site.role != NodeRole::kHost) ports += site.ports.size();
    }
    CHECK(told(run, "kernel_queue") == 2 * ports);  // for the fault and for its end
    CHECK(told(run, "undo_verified") == 8);         // all switches
    CHECK(told(run, "undo_failed") == 0);
  }

  TEST_CASE("a route that is missing or leads elsewhere is so in the tables of the program") {
    enter_sandbox();
    const Topology topology = incast("").topology;
    const NodeId t0 = *topology.find_node("p0.t0-0");
    const Usid spine = topology.node(*topology.find_node("p0.t1-1")).usid;
    const PortId built = topology.find_port("p0.t0-0:u1")->port,
                 other = topology.find_port("p0.t0-0:u0")->port;
    const auto at = [](int us) { return FabricTime::from_us(us); };
    const auto route = [&](RouteKind kind) { return SwitchRoute{t0, spine, kind, other}; };
    const std::vector<ScheduledEffect> schedule{{at(1), route(RouteKind::kMissing), 0, 0, false},
                                                {at(2), route(RouteKind::kWrong), 1, 0, false},
                                                {at(3), SwitchRoute{t0, spine}, 2, 0, true}};
    LiveFabric fabric(topology, "t_bpf_" + std::to_string(::getpid()));
    BpfSwitches programs(fabric);
    FabricTime clock;
    ForeignSwitches switches(fabric, nullptr, &programs, schedule, 1000,
                             [&clock] { return clock; });
    const auto leads_to_at = [&](int us) {
      clock = at(us);
      switches.apply_due();
      const std::string start = fmt::format("{:04x} action {} port ", spine.value, int{USID_VIA});
      for (const std::string& line : programs.rules_of(t0)) {
        if (line.starts_with(start)) return line.substr(start.size());
      }
      return std::string("nowhere");
    };
    CHECK(leads_to_at(0) == std::to_string(built.value));
    CHECK(leads_to_at(1) == "nowhere");
    CHECK(leads_to_at(2) == std::to_string(other.value));
    CHECK(leads_to_at(3) == std::to_string(built.value));
    CHECK(switches.take_problems().empty());
  }

  TEST_CASE("inspect shows the routes of such a switch with what they have counted") {
    enter_sandbox();
    const test::TemporaryRuns folder;
    const std::string fabric = folder.path() / "f.yaml";
    netio::write_file(fabric,
                      "name: f\nplanes: 1\nt0: 2\nt1: 2\nhosts_per_t0: 2\nforwarding: bpf\n");
    const auto said = [](std::vector<std::string> words) {
      const CommandResult result = mrclab(std::move(words));
      CHECK_MESSAGE(result.code == 0, result.output);
      return result.output;
    };
    said({"up", fabric, "--name", "kernelwise"});
    said({"exec", "h0", "--", "ping", "-c", "1", "-W", "20", "h2"});
    // h0 sends a carrier whose uSID no switch has. The switch looks at no MAC address, so any neighbour will do.
    said({"exec", "h0", "--", "ip", "neigh", "add", "fe80::77", "lladdr", "02:00:00:00:00:77",
          "dev", "p0"});
    said({"exec", "h0", "--", "ip", "route", "add", "5f00:0:7777::/48", "via", "fe80::77", "dev",
          "p0"});
    CHECK(mrclab({"exec", "h0", "--", "ping", "-c", "1", "-W", "1", "5f00:0:7777::"}).code != 0);
    const auto table = mrclab_json({"inspect", "kernelwise", "p0.t0-0", "--json"});
    CHECK(table.at("forwarding") == "bpf");
    size_t ends = 0, routes = 0;
    CHECK(table.at("rows").back().at("action") == "drop");
    CHECK(table.at("rows").back().at("packets") == 1);
    for (const auto& row : table.at("rows")) {
      if (row.at("action") == "via") ++routes;
      if (row.at("action") != "End") continue;
      ++ends;
      CHECK(row.at("packets") >= 2);  // the ping, and its answer
      CHECK(row.at("bytes") > 200);
      CHECK(row.at("errors") == 0);
    }
    CHECK(ends == 1);
    CHECK(routes == 6);  // two spines, and two uSIDs of each of two hosts
    CHECK(test::mentions(said({"inspect", "p0.t0-0"}), "p0.t0-0: forwarded by bpf"));
    said({"down", "kernelwise"});
  }
}

}  // namespace mrclab::lab
