// A run in which nothing is broken accuses nobody, under MRC and under each of the six transports that it is
// held against.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/blame/blame.h"
#include "analysis/blame/blame_text.h"
#include "analysis/history/evidence.h"
#include "fabric/text/yaml.h"
#include "recorded/run/blame_run.h"
#include "scenario/simulation/simulation.h"
#include "scenario/spec/contrast.h"
#include "scenario/spec/named_transport.h"
#include "tests/lab/support/calm_scenario.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/support/nightly.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

/// Of each fabric and transport; nightly all of them.
constexpr uint64_t kSeeds = 200, kSample = 4;
/// Likewise of transports that the campaigns of calm runs leave out.
constexpr uint64_t kOtherSeeds = 50;

struct CalmRun {
  uint64_t attempts = 0, under_way = 0, congested = 0, refused = 0;
  std::string accusations;  ///< empty if nobody is accused
  std::string wrong;        ///< what its history must not have without a fault; empty: nothing
};

CalmRun run_of(const Scenario& scenario) {
  analysis::Evidence evidence(scenario.topology, scenario.schedule, scenario.stop());
  {
    Simulation simulation(scenario, 1,
                          [&](NodeId node) -> NodeObserver& { return evidence.observer(node); });
    simulation.run();
  }
  evidence.finish();
  CalmRun run;
  for (const analysis::Attempt& attempt : evidence.packets().attempts()) {
    ++run.attempts;
    run.under_way += attempt.fate == analysis::Fate::kInFlight ? 1 : 0;
    run.congested += attempt.congested() ? 1 : 0;
    run.refused += attempt.refused() ? 1 : 0;
    if (attempt.lost() && !attempt.congested() && run.wrong.empty()) {
      run.wrong = "lost, though nothing is broken: " + std::string(name_of(attempt.cause));
    }
  }
  const analysis::HistoryCounters& counters = evidence.packets().counters();
  for (const auto& [count, what] : {std::pair{counters.copies, "copies"},
                                    {counters.unmatched_arrivals, "unmatched arrivals"},
                                    {counters.unmatched_drops, "unmatched drops"}}) {
    if (count > 0) run.wrong += fmt::format(" {} {}", count, what);
  }
  for (const analysis::Blame& blame :
       analysis::find_blame(scenario.topology, evidence.packets(), evidence.events())) {
    run.accusations += headline(blame) + ": " + blame.evidence + "\n";
  }
  return run;
}

}  // namespace

TEST_CASE("a run without a fault accuses nobody, under any transport" *
          doctest::test_suite(test::kWholeRun)) {
  const uint64_t seeds = test::nightly() ? kSeeds : kSample;
  CalmRun all;
  uint64_t runs = 0, accusing = 0, wrong = 0, empty = 0;
  std::string table;
  for (const std::string_view fabric : test::kCalmFabrics) {
    for (const std::string_view transport : test::kCalmTransports) {
      const uint64_t before = accusing;
      for (uint64_t seed = 1; seed <= seeds; ++seed, ++runs) {
        const CalmRun run = run_of(test::calm_scenario(fabric, transport, seed));
        all.attempts += run.attempts;
        all.under_way += run.under_way;
        all.congested += run.congested;
        all.refused += run.refused;
        empty += run.attempts == 0 ? 1 : 0;
        accusing += run.accusations.empty() ? 0 : 1;
        wrong += run.wrong.empty() ? 0 : 1;
        if (run.accusations.empty() && run.wrong.empty()) continue;
        FAIL_CHECK(fabric << ", " << transport << ", seed " << seed << ": " << run.wrong << "\n"
                          << run.accusations << test::calm_text(fabric, transport, seed));
      }
      if (accusing > before) {
        table += fmt::format("  {} {}: {}\n", fabric, transport, accusing - before);
      }
    }
  }
  CHECK(empty == 0);
  MESSAGE(fmt::format(
      "{} runs, {} transmissions, {} dropped by queues, {} refused, {} under way at the end; {} "
      "accuse somebody, {} have a wrong history\n{}",
      runs, all.attempts, all.congested, all.refused, all.under_way, accusing, wrong, table));
}

TEST_CASE(
    "a run without a fault accuses nobody under any other transport, nor under any on the fat twin" *
    doctest::test_suite(test::kWholeRun)) {
  const uint64_t seeds = test::nightly() ? kOtherSeeds : 1;
  std::vector<std::string> names;
  for (const NamedTransport& transport : named_transports()) {
    const std::string name(transport.name);
    const bool seen =
        std::count(test::kCalmTransports.begin(), test::kCalmTransports.end(), name) > 0;
    names.push_back(seen ? name + std::string(kOnFatTwin) : name);
  }
  names.push_back("mrc-letter" + std::string(kOnFatTwin));
  for (const std::string& transport : names) {
    // Longer than such switches need to find their routes; the fuller, the more queues drop and trim.
    const bool slow = transport.ends_with("-hw") || transport.ends_with("-reroute");
    for (uint64_t seed = 1; seed <= seeds; ++seed) {
      CAPTURE(transport);
      CAPTURE(seed);
      const Scenario scenario = parse_scenario(read_yaml_text(
          fmt::format("name: calm\nabout: Nothing is broken.\nfabric: octet\nseed: {}\nworkload:\n"
                      "  - permutation: {{hosts: all, load: {}%, message: 256KiB}}\n"
                      "  - incast: {{from: \"h[1-3]\", to: h0, load: 60%, message: 64KiB}}\n"
                      "end: {}us\n",
                      seed, 20 + seed % 5 * 20, slow ? 360 : 180),
          "calm"));
      const CalmRun run = run_of(under_transport(scenario, find_contrast(scenario, transport)));
      CHECK(run.attempts > 100);
      CHECK(run.accusations == "");
      CHECK(run.wrong == "");
    }
  }
}

TEST_CASE("what stands behind a pause, and what queues of busy receivers drop, accuses nobody" *
          doctest::test_suite(test::kWholeRun)) {
  // Shipped incidents without a fault, which blamed somebody under these transports.
  std::vector<std::pair<std::string_view, std::string_view>> runs{{"blocked-gpu", "roce"},
                                                                  {"blocked-gpu", "roce-nopfc"},
                                                                  {"blocked-gpu", "roce-ar"},
                                                                  {"incast-victim", "roce-nopfc"},
                                                                  {"dcqcn-tunings", "roce-nopfc"}};
  for (const std::string_view incident :
       {"blocked-gpu", "incast-victim", "permutation", "dcqcn-tunings", "latency-bandwidth",
        "mixed-rc", "fare-1-1-2-2", "fare-3-3-4-4", "fare-two-speeds", "pfc-deadlock"}) {
    if (!test::nightly()) break;
    for (const NamedTransport& transport : named_transports()) {
      runs.emplace_back(incident, transport.name);
    }
  }
  for (const auto& [incident, transport] : runs) {
    CAPTURE(incident);
    CAPTURE(transport);
    const Scenario scenario = load_scenario(incident);
    REQUIRE(scenario.faults.empty());
    std::optional<Scenario> under;
    try {
      under = under_transport(scenario, find_contrast(scenario, transport));
    } catch (const InputError&) {
      continue;  // this fabric cannot carry it
    }
    const CalmRun run = run_of(*under);
    CHECK(run.attempts > 0);
    CHECK(run.accusations == "");
    if (incident == "blocked-gpu" && transport == "roce") {
      CHECK(run.under_way > 800);
      CHECK(run.congested + run.refused == 0);
    }
  }
}

TEST_CASE("a run folder whose captures show no pause accuses nobody, and says what was lost" *
          doctest::test_suite(test::kWholeRun)) {
  const test::TemporaryRuns runs;
  const Scenario scenario = load_scenario("blocked-gpu");
  for (const bool pauses : {true, false}) {
    const ContrastName transport = find_contrast(scenario, pauses ? "roce" : "roce-nopfc");
    const BlamedRun blamed =
        blame_of_run(runs.run(under_transport(scenario, transport)).folder.path);
    CHECK(blamed.blames.empty());
    CHECK(blamed.lost_otherwise == 0);
    CHECK((blamed.congested > 1000) == !pauses);
  }
}
