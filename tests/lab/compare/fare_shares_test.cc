// What switches that route by themselves send where, and how long it takes until they send it elsewhere, as captures
// and events show it.

#include <doctest/doctest.h>

#include "analysis/measure/fault_losses.h"
#include "fabric/topology/build_topology.h"
#include "fabric/topology/fabric_file.h"
#include "lab/compare/comparison.h"
#include "lab/compare/comparison_text.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/support/errors.h"

using namespace mrclab;
using namespace mrclab::lab;
using analysis::Result;

namespace {

/// Two leaves, two spines, of which the second has links of twice the rate.
std::string fare_fabric_text(const std::string& routing = "{default: fare, spray: packet}") {
  return "{name: f, planes: 1, t0: 2, t1: 2, hosts_per_t0: 1, host_rate: 400Gb/s, fabric_rate: "
         "100Gb/s, link_rates: [{links: \"p0.t0-*:u1\", rate: 200Gb/s}], routing: " +
         routing + "}";
}

Scenario scenario_with(const std::string& expect, const std::string& captures = "all",
                       const std::string& fabric = fare_fabric_text()) {
  return parse_scenario(read_yaml_text(
      "name: shares\nfabric: " + fabric + "\ncaptures: " + captures +
          "\nworkload:\n  - permutation: {hosts: all, load: 40%, message: 64KiB, at: 150us}\n"
          "end: 250us\n"
          "expect:\n  - " +
          expect + "\n",
      "shares.yaml"));
}

analysis::CheckResult checked(const test::TemporaryRuns& folder, const Scenario& scenario) {
  return folder.run(scenario).verdict.checks.at(0);
}

std::string port_share(const std::string& rest) {
  return "port_share: {port: \"p0.t0-0:u1\", among: \"p0.t0-0:u*\", " + rest + "}";
}

}  // namespace

TEST_CASE("two thirds go over a link of twice the rate, and a check of it can fail either way") {
  const test::TemporaryRuns folder;
  const auto check = checked(folder, scenario_with(port_share("at_least: 66%, at_most: 67.3%")));
  CHECK(check.result == Result::kPass);
  CHECK(*check.measured == doctest::Approx(66.67).epsilon(0.005));
  CHECK(check.note.find(" packets") != std::string::npos);
  const auto more = checked(folder, scenario_with(port_share("at_least: 67.3%")));
  CHECK(more.result == Result::kFail);
  CHECK(more.bound == doctest::Approx(67.3));
  const auto less = checked(folder, scenario_with(port_share("at_most: 66%")));
  CHECK(less.result == Result::kFail);
  CHECK(less.bound == 66);
  CHECK(checked(folder, scenario_with(port_share("at_least: 66%, destination: h1"))).result ==
        Result::kPass);
}

TEST_CASE("a share of ports is not judged where nothing shows it") {
  const test::TemporaryRuns folder;
  const auto why_not = [&](const Scenario& scenario) {
    const auto check = checked(folder, scenario);
    CHECK(check.result == Result::kInconclusive);
    return check.note;
  };
  CHECK(why_not(scenario_with(port_share("at_least: 1%, source: h1"))) ==
        "no capture shows data leaving by p0.t0-0:u*");
  // Before the fabric is ready nothing is sent, which the reader of the file finds.
  CHECK_THROWS_AS(scenario_with(port_share("at_least: 1%, until: 100us")), InputError);
  CHECK(why_not(scenario_with(port_share("at_least: 1%"), "all", fare_fabric_text("srv6"))) ==
        "only with routing: fare do switches choose so");
  const auto refused = [](const std::string& port, const std::string& among) {
    return test::error_of([&] {
      scenario_with("port_share: {port: \"" + port + "\", among: \"" + among + "\", at_least: 1%}");
    });
  };
  CHECK(refused("x:u1", "p0.t0-0:u*").find("found \"x:u1\"") != std::string::npos);
  CHECK(refused("p0.t0-0:u1", "x:u*").find("found \"x:u*\"") != std::string::npos);
}

TEST_CASE("rates of links are read, refused, and written back") {
  const auto rated = [](const std::string& list) {
    return parse_fabric(read_yaml_text(
        "name: f\nplanes: 1\nt0: 2\nt1: 2\nhosts_per_t0: 1\nlink_rates: " + list + "\n", "f.yaml"));
  };
  const FabricShape shape =
      rated("[{links: \"p0.t0-*:u*\", rate: 50Gb/s}, {links: \"p0.t0-1:u0\", rate: 25Gb/s}]");
  const Topology t = build_topology(shape);
  const auto rate = [&](const char* port) {
    const Port& place = t.port(*t.find_port(port));
    CHECK(t.wire(place.out).rate == t.wire(place.in).rate);
    CHECK(t.link(place.link).rate == t.wire(place.out).rate);
    return t.wire(place.out).rate;
  };
  CHECK(rate("p0.t0-0:u0") == BitRate::from_gbps(50));
  CHECK(rate("p0.t1-0:d1") == BitRate::from_gbps(25));
  CHECK(rate("h0:p0") == BitRate::from_gbps(100));
  CHECK(parse_fabric(read_yaml_text(to_yaml(shape), "again.yaml")).link_rates == shape.link_rates);
  CHECK(test::error_of([&] {
          rated("[{links: \"p0.t0-9:u0\", rate: 50Gb/s}]");
        }).find("f.yaml:6:22: found \"p0.t0-9:u0\"") == 0);
  CHECK(test::error_of([&] { rated("[{links: \"p0.t0-0:u0\"}]"); }).find("f.yaml:6:14: ") == 0);
  std::string many = "[";
  for (int i = 0; i < 65; ++i) many += "{links: \"p0.t0-0:u0\", rate: 1Gb/s}, ";
  CHECK(test::error_of([&] { rated(many + "]"); }).find("at most 64") != std::string::npos);
}

TEST_CASE(
    "switches of a listed fabric route by themselves, if none without hosts has to speak to "
    "another such") {
  const auto listed = [](const std::string& hosts, const std::string& links) {
    return parse_fabric(
        read_yaml_text("name: f\nswitches: {a: 0100, b: 0200, c: 0300, d: 0400}\nhosts: " + hosts +
                           "\nlinks: " + links + "\nrouting: fare\n",
                       "f.yaml"));
  };
  CHECK(listed("[[a], [b]]", "{a: [c, d], b: [c, d]}").routing.is_fare());
  CHECK(test::error_of([&] {
          listed("[[a], [b]]", "{a: [c], b: [d], c: [d]}");
        }).find("a link between c and d, on which no hosts hang") != std::string::npos);
  CHECK(test::error_of([&] {
          listed("[[a, b], [a, b]]", "{a: [c, d], b: [c, d]}");
        }).find("hosts with several ports") != std::string::npos);
}

TEST_CASE("what a fault cost counts from its start until it heals or the next begins") {
  const auto us = [](int64_t n) { return FabricTime::from_us(n); };
  FabricShape shape;
  shape.t0 = shape.t1 = 2;
  const Topology topology = build_topology(shape);
  analysis::PacketTables tables;
  for (const int64_t at : {90, 110, 150, 190, 250, 350}) {
    analysis::Attempt lost;
    lost.ended = us(at);
    lost.fate = analysis::Fate::kDropped;
    lost.cause = DropCause::kPortDown;
    tables.attempts.push_back(lost);
  }
  tables.attempts[2].cause = DropCause::kReceiveBufferFull;  // the NIC refused it: it was not lost
  const analysis::PacketHistory packets(std::move(tables));
  analysis::EventHistory events(topology);
  const auto says = [&](std::string_view kind, int64_t at) {
    events.add(topology.t0(0, 0), {us(at), kind, {}, {}, {}, {}, {}, {}});
  };
  says("bgp_down", 120), says("fib", 130), says("fib", 95), says("bgp_down", 125), says("fib", 140);
  says("bgp_up", 145), says("fib", 260);
  events.finish();
  std::vector<analysis::FaultSpan> faults(2);
  faults[0].start = us(100), faults[0].healed_at = us(300);
  faults[1].start = us(200);
  const auto first = losses_after(packets, events, faults, 0);
  CHECK(first.packets == 2);
  CHECK(first.last == us(90));
  CHECK(first.noticed == us(20));
  CHECK(first.routed == us(40));
  const auto second = losses_after(packets, events, faults, 1);
  CHECK(second.packets == 2);
  CHECK(second.last == us(150));
  CHECK_FALSE(second.noticed.has_value());
  CHECK(second.routed == us(60));
}

TEST_CASE("a dead link is compared under four ways to choose paths") {
  const test::TemporaryRuns folder;
  Scenario scenario = parse_scenario(read_yaml_text(
      "name: dead\nfabric: {name: f, planes: 1, t0: 2, t1: 2, hosts_per_t0: 1}\ncaptures: all\n"
      "workload:\n  - permutation: {hosts: all, load: 40%, message: 64KiB, at: 150us}\n"
      "faults:\n  - {at: 250us, link_down: {link: \"p0.t0-1:u0\"}}\nend: 500us\n"
      "expect:\n  - memory_intact\n",
      "dead.yaml"));
  ComparisonOptions options;
  options.out = folder.path();
  options.transports = {"mrc", "mrc-ecmp", "mrc-fare", "roce-fare"};
  const Comparison comparison = compare_transports(scenario, options);
  const auto times = [&](size_t i) { return longest_fault_times(comparison.runs[i].verdict); };
  CHECK_FALSE(times(0).routed.has_value());
  CHECK_FALSE(times(1).routed.has_value());
  for (const size_t fare : {2, 3}) {
    CAPTURE(comparison.runs[fare].transport);
    REQUIRE(times(fare).noticed.has_value());
    REQUIRE(times(fare).routed.has_value());
    CHECK(*times(fare).noticed <= *times(fare).routed);
    CHECK(*times(fare).routed < FabricTime::from_us(20));
    CHECK(comparison.runs[fare].verdict.metrics.lost < 40);
  }
  CHECK(times(0).last_loss.has_value());
  const std::string text = comparison_text({comparison}, {});
  for (const char* column : {"last loss", "noticed", "routed"}) {
    CHECK(text.find(column) != std::string::npos);
  }
  CHECK(
      under_transport(scenario, find_contrast(scenario, "roce-fare")).topology.routing.fare.spray ==
      Spray::kFlow);
}
