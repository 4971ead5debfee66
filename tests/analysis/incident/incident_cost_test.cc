// What a run cost against its fault-free twin, in bytes and in time, and where that is stated.

#include "analysis/incident/incident_cost.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "analysis/report/summary.h"
#include "tests/support/synthetic_traffic.h"

namespace mrclab::analysis {
namespace {

using test::AnalyzedRun;
using test::us;

/// 1,000 bytes arrive each microsecond of [from, until).
GoodputMeter steady(std::vector<std::pair<int64_t, int64_t>> spans) {
  std::vector<Delivery> deliveries;
  for (const auto& [from, until] : spans) {
    for (int64_t t = from; t < until; ++t) deliveries.push_back({us(t), 0, 1'000, 0});
  }
  return GoodputMeter(deliveries);
}

TEST_CASE("bytes that are missing are stated, and how long the run without faults needs for them") {
  const IncidentCost cost =
      incident_cost(steady({{0, 300}, {340, 1000}}), steady({{0, 1000}}), us(1000));
  CHECK(cost.twin_delivered - cost.delivered == 40'000);
  CHECK(cost.behind ==
        us(41));  // the twin has 960,000 bytes when the 960th packet arrives, at 959 us
  CHECK(to_string(cost) ==
        "40.0 KB (4.0 %) less delivered by 1ms than without the faults: 41us behind");
}

TEST_CASE("faults that cost nothing are said to, and so is work that is done later, or not") {
  IncidentCost cost = incident_cost(steady({{0, 1000}}), steady({{0, 1000}}), us(1000));
  CHECK(to_string(cost) == "nothing: 1.0 MB delivered by 1ms, as without the faults");
  cost.work_ends = true;
  cost.twin_completed = us(800);
  cost.completed = us(1000);
  CHECK(to_string(cost) ==
        "200us (25.0 %): the work is done at 1ms, without the faults it is done at 800us");
  cost.completed = us(800);
  CHECK(to_string(cost).starts_with("no time: "));
  cost.completed.reset();
  cost.delivered -= 500'000;
  CHECK(to_string(cost).starts_with(
      "the work is not done by 1ms, without the faults it is done at 800us; 500.0 KB"));
}

/// h2:p0 is down from 60 us on, before a baseline can be taken, and its packets are lost.
Analysis early_fault(AnalyzedRun& run, bool state_cost) {
  run.add_link_fault("h2:p0", us(60), us(100));
  test::ScriptedTraffic traffic;
  run.inputs.twin = [traffic]() -> TwinRun {
    const Topology topology = test::quad();
    AnalyzedRun twin(topology, "cost-twin");
    traffic.write(twin.run);
    return {twin.analyze().measurements.goodput, {}};
  };
  run.inputs.state_cost = state_cost;
  run.inputs.timing.faithful = true;
  traffic.lost = [](const test::SyntheticRun::Sent& s) {
    return test::over_h2_p0(s) && s.start >= us(60) && s.start < us(100);
  };
  traffic.write(run.run);
  return run.analyze();
}

TEST_CASE(
    "verdict and summary state the cost, and a run without a baseline is held against its twin") {
  const Topology topology = test::quad();
  AnalyzedRun run(topology, "cost");
  const Verdict verdict = early_fault(run, true).verdict;
  REQUIRE(verdict.cost);
  CHECK(verdict.cost->twin_delivered > verdict.cost->delivered);
  const auto json = nlohmann::json::parse(to_json(verdict));
  CHECK(json["cost"]["text"] == to_string(*verdict.cost));
  CHECK(to_summary(verdict, {1, "r"}).find("\ncost    ") != std::string::npos);
  CHECK(verdict.faults[0].recovery_known);
  CHECK(verdict.faults[0].recovery_note.starts_with("held against the same run without faults"));
  const std::string table = to_table(verdict);
  CHECK(table.find("recovered: held against") != std::string::npos);
  CHECK(table.find("no baseline: ") != std::string::npos);
}

TEST_CASE("where nothing was held against a twin, what is not known says why") {
  const Topology topology = test::quad();
  AnalyzedRun run(topology, "no-cost");
  const Verdict verdict = early_fault(run, false).verdict;
  CHECK_FALSE(verdict.cost);
  CHECK_FALSE(verdict.faults[0].recovery_known);
  CHECK(to_table(verdict).find("recovered: not known, as there is no baseline: ") !=
        std::string::npos);
}

TEST_CASE("a run that is not faithful is held against no twin") {
  const Topology topology = test::quad();
  AnalyzedRun run(topology, "unfaithful-cost");
  run.inputs.timing.reasons = {"late"};
  const Topology other = test::quad();
  AnalyzedRun faithful(other, "faithful-cost");
  CHECK(early_fault(faithful, true).verdict.cost);
  run.inputs.timing.faithful = false;
  run.inputs.twin = [] { return TwinRun{steady({{0, 1000}}), {}}; };
  run.inputs.state_cost = true;
  run.add_link_fault("h2:p0", us(400), us(600));
  test::ScriptedTraffic().write(run.run);
  CHECK_FALSE(run.analyze().verdict.cost);
}

}  // namespace
}  // namespace mrclab::analysis
