// Fabrics whose switches route by themselves, end to end: runs, what is in their captures and events, and what is shown
// of the tables.

#include <doctest/doctest.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <set>

#include "console/switch_rows.h"
#include "fabric/topology/build_topology.h"
#include "fabric/topology/fabric_file.h"
#include "fabric/topology/fare.h"
#include "lab/run/scenario_run.h"
#include "plan/fare_view.h"
#include "scenario/simulation/simulation.h"
#include "scenario/spec/shipped_files.h"
#include "switchd/table_json.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/support/errors.h"
#include "tests/support/no_observer.h"
#include "tests/support/programs.h"
#include "tests/support/texts.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

Scenario fare_scenario() {
  return load_scenario(MRCLAB_SOURCE_DIR "/tests/scenarios/fare-live.yaml");
}

std::vector<std::string> lines_said_by(const std::string& command) {
  std::vector<std::string> lines;
  FILE* pipe = ::popen((command + " 2>/dev/null").c_str(), "r");
  REQUIRE(pipe != nullptr);
  for (int c; (c = std::fgetc(pipe)) != EOF;) {
    if (lines.empty()) lines.emplace_back();
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += static_cast<char>(c);
    }
  }
  ::pclose(pipe);
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

/// The hop by `port` of the first switch of a plane.
nlohmann::ordered_json hop_of(const nlohmann::ordered_json& fare, size_t plane,
                              const std::string& port) {
  for (const auto& hop : fare.at("planes")[plane].at("switches")[0].at("hops")) {
    if (hop.at("port") == port) return hop;
  }
  return nullptr;
}

}  // namespace

TEST_CASE(
    "a link dies where switches route by themselves: the run passes, and its events say what "
    "routing did") {
  const test::TemporaryRuns folder;
  const RunResult run = folder.run(fare_scenario());
  CAPTURE(analysis::to_table(run.verdict));
  CHECK(run.verdict.result == analysis::Result::kPass);
  CHECK(run.verdict.metrics.delivered > 500);
  REQUIRE(run.verdict.faults.size() == 1);
  CHECK(run.verdict.faults[0].note.find("route by themselves") != std::string::npos);
  std::map<std::string, size_t> kinds;
  bool moved = false;
  std::ifstream events(run.folder.path / "events.jsonl");
  for (std::string line; std::getline(events, line);) {
    const auto event = nlohmann::json::parse(line, nullptr, false);
    if (!event.is_object() || !event.contains("kind")) continue;
    const auto kind = event.at("kind").get<std::string>();
    ++kinds[kind];
    // The leaf that the dead link is not of learns of it, 15 us later at most.
    const auto t = event.value("t_ps", int64_t{0});
    const bool in_time = t >= FabricTime::from_us(150).ps() && t < FabricTime::from_us(165).ps();
    moved |= kind == "fib" && in_time && event.value("node", "") == "p1.t0-2" &&
             event.value("detail", "") == "h0 by u0*1";
  }
  CHECK(kinds["bgp_up"] == 2 * 6 * 2 + 2);
  CHECK(kinds["bgp_down"] == 2);
  CHECK(kinds["fib"] >= 2 * 5);
  CHECK(moved);
}

TEST_CASE("with elided payload and with several threads the history is the same") {
  const test::TemporaryRuns folder;
  Scenario scenario = fare_scenario();
  scenario.expect.clear();
  const std::string whole = folder.run(scenario).verdict.metrics.history_sha256;
  scenario.payload_elided = true;
  CHECK(folder.run(scenario).verdict.metrics.history_sha256 == whole);
  scenario.captures = CaptureScope::kNone;
  RunOptions options = folder.options(World::kSim);
  options.threads = 2;
  options.history_bytes = 0;
  CHECK(run_scenario(scenario, options).verdict.metrics.history_sha256 == whole);
}

TEST_CASE("tshark reads BGP and BFD in the captures, and finds nothing wrong in them") {
  if (!test::has_program("tshark")) {
    MESSAGE("tshark is not there");
    return;
  }
  const test::TemporaryRuns folder;
  const RunResult run = folder.run(fare_scenario());
  std::map<std::string, size_t> types;
  const std::string tshark = "HOME=/nonexistent tshark -r '" +
                             (run.folder.path / "captures" / "sim.pcapng").string() + "' ";
  for (const std::string& line : lines_said_by(tshark + "-Y bgp -T fields -e bgp.type")) {
    for (const char c : line) types[std::string(1, c)] += c != ',' ? 1 : 0;
  }
  const size_t bfd = lines_said_by(tshark + "-Y bfd").size();
  // Both ends of a wire are in the file, and the second sighting of a segment counts as a retransmission.
  const size_t wrong = lines_said_by(tshark +
                                     "-o tcp.check_checksum:TRUE -Y '(bgp or bfd or tcp) and "
                                     "(_ws.malformed or tcp.checksum.status == 0)'")
                           .size();
  CHECK(types["1"] >= 24);  // OPEN
  CHECK(types["2"] >= 24);  // UPDATE
  CHECK(types["4"] >= 24);  // KEEPALIVE
  CHECK(bfd > 1000);
  CHECK(wrong == 0);
}

TEST_CASE(
    "a packet that is sent before there are routes is dropped for want of one, and sent again") {
  const test::TemporaryRuns folder;
  const Scenario scenario = parse_scenario(read_yaml_text(
      "name: early\nfabric: {name: f, planes: 1, t0: 2, t1: 2, hosts_per_t0: 1, routing: fare}\n"
      "workload:\n  - write: {from: h0, to: h1, size: 4KiB, at: 1ns}\nend: 300us\n"
      "expect:\n  - no_qp_error\n  - memory_intact\n",
      "early.yaml"));
  const RunResult run = folder.run(scenario);
  CHECK(run.verdict.result == analysis::Result::kPass);
  CHECK(run.verdict.metrics.lost > 0);
  CHECK(run.verdict.metrics.retransmitted > 0);
}

TEST_CASE("workloads of FARE begin when the fabric is ready, others at once") {
  const Scenario scenario = fare_scenario();
  const auto at = [&](size_t i) { return std::get<endpoint::WriteSpec>(scenario.workload[i]).at; };
  CHECK(at(0) == fare_ready(scenario.topology));
  CHECK(at(2) == FabricTime::zero());
  // The daemons read what is written back.
  const Scenario again = parse_scenario(read_yaml_text(to_yaml(scenario), "again.yaml"));
  CHECK(again.workload == scenario.workload);
  CHECK(again.fabric.routing == scenario.fabric.routing);
  CHECK(test::error_of([] {
          parse_scenario(
              read_yaml_text("name: f\nfabric: fare\nend: 500us\nworkload:\n"
                             "  - write: {from: h0, to: h3, size: 4KiB, at: 0us}\n",
                             "f.yaml"));
        }) == "f.yaml:5:47: found \"0us\": expected a time above 0: at 0 no switch has routes");
}

TEST_CASE("without FARE the same fabric hashes") {
  ScenarioOverrides overrides;
  overrides.without = {"fare"};
  const Scenario without = load_scenario("fare-link-down", overrides);
  CHECK(without.fabric.routing == RoutingChoice{.by_default = Routing::kEcmp});
  CHECK(parse_scenario(read_yaml_text(to_yaml(without), "again.yaml")).fabric.routing ==
        without.fabric.routing);
}

TEST_CASE(
    "a workload asks for FARE where switches route by themselves, and for ECMP where they do not") {
  const auto refusal = [](const std::string& fabric, const std::string& routing) {
    return test::error_of([&] {
      parse_scenario(read_yaml_text("name: f\nfabric: " + fabric +
                                        "\nend: 500us\nworkload:\n"
                                        "  - write: {from: h0, to: h3, size: 4KiB, routing: " +
                                        routing + "}\n",
                                    "f.yaml"));
    });
  };
  CHECK(refusal("fare", "ecmp").find("f.yaml:5:52: found \"ecmp\": expected fare or srv6") == 0);
  CHECK(refusal("ecmp-octet", "fare").find("f.yaml:5:52: found \"fare\": expected ecmp or srv6") ==
        0);
}

TEST_CASE("trace fare says who sends which share where, and why") {
  const Topology t = read_fabric_file(find_fabric("fare"));
  const auto whole = explain_fare(t, {"h0", "h5", {}});
  CHECK(whole.at("planes").size() == 2);
  const auto u2 = hop_of(whole, 1, "u2");
  CHECK(u2.at("share").get<double>() == 25);
  CHECK(u2.at("mbps") == 12'500);
  CHECK(u2.at("why") == "has 25 Gb/s, 2 ways out");
  CHECK(whole.at("planes")[1].at("arrives").get<double>() == 100);
  CHECK(whole.at("converged_ps").get<int64_t>() > 0);
  const std::string text = fare_text(whole);
  CHECK(test::widest_line(text) <= 80);

  const auto without = explain_fare(t, {"h0", "h5", "p1.t0-2:u2"});
  CHECK(hop_of(without, 0, "u2").at("share").get<double>() == 25);
  CHECK(hop_of(without, 1, "u2").is_null());
  CHECK(hop_of(without, 1, "u1").at("share").get<double>() == doctest::Approx(100.0 / 3));
  CHECK(without.at("converged_ps").get<int64_t>() < FabricTime::from_us(10).ps());
  const auto dark = explain_fare(t, {"h0", "h5", "p0.t0-2:d1"});
  CHECK(dark.at("planes")[0].at("arrives").get<double>() == 0);
  CHECK(fare_text(dark).find("no route") != std::string::npos);

  const auto refused = [](const Topology& fabric, const FareQuestion& question) {
    return test::error_of([&] { explain_fare(fabric, question); });
  };
  CHECK(refused(t, {"h0", "h0", {}}).find("expected two hosts") != std::string::npos);
  CHECK(refused(t, {"h0", "h9", {}}).find("no host") != std::string::npos);
  CHECK(refused(t, {"h0", "h5", "p9.t0-0:u0"}).find("which is no port") != std::string::npos);
  const Topology octet = read_fabric_file(find_fabric("octet"));
  CHECK(refused(octet, {"h0", "h5", {}}).find("do not route by themselves") != std::string::npos);
}

TEST_CASE(
    "an uplink at half its rate weighs half where the leaf is the originator, whatever its hosts "
    "have; where NICs are, 100 by four uplinks is less than it has") {
  const auto shares = [](const std::string& host_rate, const std::string& nics) {
    const Topology t = build_topology(parse_fabric(read_yaml_text(
        "{name: f, planes: 1, t0: 2, t1: 4, hosts_per_t0: 4, host_rate: " + host_rate +
            ", fabric_rate: 100Gb/s, link_rates: [{links: \"p0.t0-1:u0\", rate: 50Gb/s}], "
            "routing: {default: fare, nics: " +
            nics + "}}",
        "f.yaml")));
    const auto fare = explain_fare(t, {"h0", "h5", {}});
    const auto why = fare.at("planes")[0].at("switches")[1].at("hops")[0].at("why");
    CHECK((why == "its own host, at the link's rate") == (nics == "off"));
    std::vector<double> found;
    for (const char* port : {"u0", "u1", "u2", "u3"}) {
      found.push_back(hop_of(fare, 0, port).at("share").get<double>());
    }
    return found;
  };
  const double seventh = 100.0 / 7;
  for (const char* host_rate : {"25Gb/s", "100Gb/s", "400Gb/s"}) {
    CAPTURE(host_rate);
    const auto found = shares(host_rate, "off");
    CHECK(found[0] == doctest::Approx(seventh));
    for (const size_t i : {1, 2, 3}) CHECK(found[i] == doctest::Approx(2 * seventh));
  }
  for (const double share : shares("100Gb/s", "all")) CHECK(share == doctest::Approx(25));
  const auto wide = shares("400Gb/s", "all");
  CHECK(wide[0] == doctest::Approx(seventh));
  CHECK(wide[3] == doctest::Approx(2 * seventh));
}

TEST_CASE(
    "inspect shows the sessions of such a switch, what it has heard and told, and its weights") {
  const Scenario scenario = fare_scenario();
  test::NoObserver none;
  Simulation simulation(scenario, 1, [&](NodeId) -> NodeObserver& { return none; });
  simulation.run({}, FabricTime::from_us(180));
  const Topology& t = scenario.topology;
  const auto shown = [&](const std::string& name) {
    const NodeId node = *t.find_node(name);
    return table_of_switch(t.node(node), switchd::table_json(simulation.switch_at(node)));
  };
  const auto leaf = shown("p0.t0-0"), broken = shown("p1.t0-0");
  const auto& speaker = leaf.at("speaker");
  CHECK(speaker.at("as") == 4'200'100'000);
  CHECK(speaker.at("sessions").size() == 2);
  CHECK(speaker.at("sessions")[1].at("with") == "p0.t1-1");
  CHECK(speaker.at("sessions")[1].at("state") == "up");
  CHECK(speaker.at("sessions")[1].at("bfd") == "up");
  CHECK(speaker.at("sessions")[1].at("routes") == 2);
  CHECK(broken.at("speaker").at("sessions")[1].at("state") == "dark");
  REQUIRE(speaker.at("routes").size() == 3);
  CHECK(speaker.at("routes")[0].at("own") == true);
  CHECK(speaker.at("routes")[0].at("told")[0].at("mbps") == 100'000);
  CHECK(speaker.at("routes")[1].at("heard")[0] == nlohmann::json{{"port", "u0"}, {"mbps", 50'000}});
  const auto has_row = [](const nlohmann::json& table, const std::string& hosts,
                          const std::string& action, const std::string& port) {
    for (const auto& row : table.at("rows")) {
      if (row.value("hosts", "") == hosts)
        return row.at("action") == action && row.at("port") == port;
    }
    return false;
  };
  CHECK(has_row(leaf, "h1-h2", "weigh", "u0*1,u1*1"));
  CHECK(has_row(broken, "h1-h2", "via", "u0"));
  const std::string text = switch_table_text(leaf);
  CHECK(text.find("BGP: AS 4200100000, router 10.0.0.4") != std::string::npos);
  CHECK(text.find("h1-h2  u0,u1 50") != std::string::npos);
  CHECK(test::widest_line(text) <= 80);
}
