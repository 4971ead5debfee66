// What a mapper's probes find in whole runs of the simulator: every kind of fault alone, seeds of chaos, and nothing where
// nothing is broken. The schedule is looked at only to score (lab/chaos/mapper_score.h).

#include "lab/chaos/mapper_score.h"

#include <doctest/doctest.h>

#include <string>

#include "analysis/mapper/mapper_collector.h"
#include "fabric/text/yaml.h"
#include "lab/chaos/chaos_scenario.h"
#include "scenario/simulation/simulation.h"
#include "tests/support/nightly.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

Scenario probed_scenario(const std::string& mapper, const std::string& faults,
                         const std::string& more = "") {
  const std::string text = "name: one\nfabric: {like: octet" + more + "}\nmapper: " + mapper +
                           "\nworkload:\n  - ping_pong: {from: h0, to: h4, size: 64B, count: 4}\n" +
                           (faults.empty() ? "" : "faults:\n  - {at: 100us, " + faults + "}\n") +
                           "end: 900us\n";
  return parse_scenario(read_yaml_text(text, "mapper"));
}

analysis::MapperResult mapper_of(const Scenario& scenario) {
  analysis::Evidence evidence(scenario.topology, scenario.schedule, scenario.stop());
  Simulation simulation(scenario, 1,
                        [&](NodeId node) -> NodeObserver& { return evidence.observer(node); });
  simulation.run();
  evidence.finish();
  return *analysis::mapper_result(scenario.topology, evidence.events(), evidence.coverage());
}

}  // namespace

TEST_CASE("a mapper names each kind of fault that probes can see, and its place") {
  struct Row {
    const char* fault;
    const char* part;
  };
  for (const Row& row :
       {Row{R"(wire_loss: {link: "p0.t0-0:u1", direction: up, loss: 60%})",
            "wire p0.t0-0:u1->p0.t1-1:d0"},
        Row{R"(blackhole: {link: "p2.t0-1:u3", direction: down})", "wire p2.t1-3:d1->p2.t0-1:u3"},
        Row{R"(link_down: {link: "p3.t0-1:u2"})", "link p3.t0-1:u2--p3.t1-2:d1"},
        Row{R"(port_down: {port: "h2:p5"})", "link h2:p5--p5.t0-0:d2"},
        Row{R"(switch_hang: {switch: p1.t1-2})", "switch p1.t1-2"},
        Row{R"(switch_hang: {switch: p6.t0-1})", "switch p6.t0-1"},
        Row{R"(optic_dead: {optic: "p4.t0-0:o0"})", "optic p4.t0-0:o0"}}) {
    CAPTURE(row.fault);
    const auto result = mapper_of(probed_scenario("{period: 4rtt}", row.fault));
    REQUIRE(result.found.size() == 1);
    const analysis::Blame& part = result.found[0].part;
    const std::string named = part.kind + " " + part.component;
    const bool in_class = std::count(part.or_else.begin(), part.or_else.end(), row.part) > 0;
    CAPTURE(named);
    CHECK((named == row.part || in_class));
    CHECK(part.places <= 4);
    CHECK(result.found[0].named > FabricTime::from_us(100));
    CHECK(result.found[0].named < FabricTime::from_us(700));
  }
}

TEST_CASE("what queue pairs report of their paths tells which way a host's port loses") {
  const auto result = mapper_of(parse_scenario(read_yaml_text(
      "name: one\nfabric: octet\nmapper: {period: 4rtt}\nworkload:\n"
      "  - incast: {from: \"h[0-4]\", to: h5, load: 20%, message: 32KiB}\nfaults:\n"
      "  - {at: 200us, wire_loss: {link: \"h5:p3\", direction: down, loss: 20%}}\nend: 700us\n",
      "mapper")));
  REQUIRE(result.found.size() == 1);
  CHECK(result.found[0].part.kind == "link");
  CHECK(result.ev_events > 3);
  REQUIRE(result.by_events.size() == 1);
  CHECK(result.by_events[0].part.kind == "wire");
  CHECK(result.by_events[0].part.component == "p3.t0-1:d1->h5:p3");
  // A wire and its link are one place: named once where a witness says that it is one or the other.
  const bool one = !result.by_events[0].part.or_else.empty();
  CHECK(analysis::findings_of(result, MapperWitness::kBoth).size() == (one ? 1 : 2));
}

TEST_CASE("a mapper names nothing where nothing is broken, and has probed every link") {
  for (const char* mapper :
       {"{period: 4rtt}", "{period: 5rtt, form: stamp}", "{period: 110us, probes: [t0, t1]}"}) {
    for (const char* more : {"", ", decap: leaf", ", switching: cut_through", ", trim: off"}) {
      CAPTURE(mapper);
      CAPTURE(more);
      const auto result = mapper_of(probed_scenario(mapper, "", more));
      CHECK(result.found.empty());
      CHECK(result.by_events.empty());
      CHECK(result.lost == 0);
      CHECK(result.late == 0);
      CHECK(result.slow == 0);
      CHECK(result.forged == 0);
      CHECK(result.sent > 400);
      CHECK(result.probed == 128);
    }
  }
}

TEST_CASE("without cross probes the two directions of a link are one class") {
  const auto result =
      mapper_of(probed_scenario("{period: 4rtt, probes: [t0, t1]}",
                                R"(wire_loss: {link: "p0.t0-0:u1", direction: up, loss: 60%})"));
  REQUIRE(result.found.size() == 1);
  CHECK(result.found[0].part.kind == "link");
}

TEST_CASE("a mapper that does not fit its fabric is refused with the reason") {
  const auto reason = [](const std::string& mapper, const std::string& more) -> std::string {
    try {
      probed_scenario(mapper, "", more);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(reason("{period: 1rtt}", "").find("of a port") != std::string::npos);
  CHECK(reason("{period: 10rtt, timeout: 9999rtt}", "").find("64 periods") != std::string::npos);
  CHECK(reason("{period: 10rtt}", ", segments: adjacency").find("name links") != std::string::npos);
  CHECK(reason("{period: 10}", "") != "");
  CHECK(reason("{period: 1.5rtt}", "").find("whole number") != std::string::npos);
  CHECK(reason("{period: 10rtt, probes: []}", "") != "");
  CHECK(reason("{period: 10rtt, probes: [t2]}", "").find("t2") != std::string::npos);
  CHECK(reason("on", "").find("period: 10rtt") != std::string::npos);
  CHECK(reason("{probes: [t0]}", "").find("period") != std::string::npos);
  CHECK(reason("off", "") == "");
}

TEST_CASE("seeds of chaos whose faults do not lie over one another are named without a mistake" *
          doctest::test_suite(test::kWholeRun)) {
  const ChaosBase base = load_chaos_base("octet");
  BlameScore all;
  for (const uint64_t seed : {1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 124}) {
    ChaosScenario drawn = chaos_scenario(base, seed);
    switch_mapper_on(drawn.scenario);
    all.add_score(
        score_mapper("seed " + std::to_string(seed), drawn.scenario, MapperWitness::kBoth));
  }
  for (const std::string& wrong : all.wrong) FAIL_CHECK("wrong: " << wrong);
  for (const std::string& missed : all.not_found) FAIL_CHECK("missed: " << missed);
  CHECK(all.all_kinds().observable > 20);
  CHECK(all.delays_ns.size() > 20);
  MESSAGE(blame_table(all, kMapperMarks));
}
