// twin: a fault that costs, one that is hidden, and twins that are none.

#include "lab/twin/twin.h"

#include <doctest/doctest.h>

#include <sstream>

#include "fabric/text/yaml.h"
#include "lab/twin/twin_data.h"
#include "lab/twin/twin_run.h"
#include "lab/twin/twin_set.h"
#include "lab/twin/twin_text.h"
#include "scenario/spec/scenario.h"
#include "tests/lab/support/temporary_runs.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

/// A ring that waits for every packet, and beside it a write that is done long before it is.
Scenario ring(const std::string& faults, const std::string& rest = "seed: 1\nend: 400us\n") {
  return parse_scenario(
      read_yaml_text("name: ring\nfabric: octet\nworkload:\n"
                     "  - all_reduce: {hosts: \"h[0-3]\", size: 512KiB, iterations: 5}\n"
                     "  - write: {from: h6, to: h7, size: 1MiB, count: 1}\n" +
                         rest + "faults:\n" + faults,
                     "ring"));
}

/// All that comes to a host of the ring is lost while its second iteration goes on.
constexpr const char* kCosts =
    "  - {at: 30us, wire_loss: {link: \"h1:p*\", direction: down, loss: 100%, for: 10us}}\n";
/// What is lost of the write is sent again before the ring is done.
constexpr const char* kHidden =
    "  - {at: 5us, wire_loss: {link: \"h7:p[0-3]\", direction: down, loss: 100%, for: 10us}}\n";

std::vector<TwinMeasure> runs_of(const Scenario& scenario) {
  const std::vector<FaultSet> sets = sets_to_run(scenario.faults.size());
  std::vector<TwinMeasure> runs;
  for (const FaultSet set : sets) runs.push_back(run_twin(scenario, set, cuts_of(scenario, sets)));
  return runs;
}

/// Both faults; its runs, once.
const Scenario& both() {
  static const Scenario scenario = ring(std::string(kCosts) + kHidden);
  return scenario;
}
const std::vector<TwinMeasure>& runs_of_both() {
  static const std::vector<TwinMeasure> runs = runs_of(both());
  return runs;
}

}  // namespace

TEST_CASE(
    "a fault that stops a ring costs time, one beside it is hidden, and both are named with their queue pairs") {
  const TwinReport report = report_of(both(), runs_of_both());
  CHECK(report.inconclusive == "");
  CHECK(report.unit == TwinUnit::kTime);
  const TwinFault& costs = report.faults[0];
  CHECK(costs.cost.marginal.value() >= FabricTime::from_us(5).ps());
  CHECK(costs.cost.marginal == costs.cost.alone);
  CHECK(costs.cost.share == costs.cost.marginal);
  CHECK(costs.toll.packets > 0);
  CHECK(costs.toll.queue_pairs == 2);  // from its left neighbour, and answers of its right one
  CHECK(costs.toll.answers > 0);
  CHECK(costs.toll.most.at(1).from == 1);
  CHECK(costs.toll.most.at(1).to == 2);
  CHECK(costs.toll.most.at(1).packets == 0);
  CHECK(costs.toll.most.at(0).from == 0);
  CHECK(costs.toll.most.at(0).to == 1);
  const TwinFault& hidden = report.faults[1];
  CHECK(hidden.cost.marginal == 0);
  CHECK(hidden.cost.alone == 0);
  CHECK(hidden.toll.packets > 0);
  CHECK(hidden.toll.most.at(0).from == 6);
  CHECK(hidden.toll.most.at(0).to == 7);
  CHECK(hidden.steps_hit == 0);
  CHECK(twin_sentence(report, 1).find("hidden, ") == 0);
}

TEST_CASE(
    "answers that a fault took are its toll as data is, by the queue pair that waited for them") {
  const Scenario scenario = parse_scenario(read_yaml_text(
      "name: answers\nfabric: octet\nseed: 1\nend: 400us\nworkload:\n"
      "  - all_reduce: {hosts: [h0, h5], size: 256KiB, iterations: 2}\n"
      "  - write: {from: h6, to: h7, size: 1MiB, count: 1}\n"
      "faults:\n  - {at: 5us, wire_loss: {link: \"h6:p*\", direction: down, loss: 100%, for: 20us}}\n",
      "answers"));
  const TwinReport report = run_twins(scenario, {.jobs = 1});
  const FaultToll& toll = report.faults[0].toll;
  CHECK(toll.packets == 0);
  CHECK(toll.answers > 0);
  CHECK(toll.queue_pairs == 1);
  REQUIRE(toll.most.size() == 1);
  CHECK(toll.most[0].from == 6);
  CHECK(toll.most[0].to == 7);
  for (const QueuePairEnd& end : queue_pairs(scenario)) {
    if (end.host == 7) CHECK(end.qpn == toll.most[0].qp);
  }
  CHECK(twin_text({report}, {}).find("answers") != std::string::npos);
  CHECK(to_json({report}).at(0).at("faults").at(0).at("lost_answers") == toll.answers);
  CHECK(measure_of_text(to_text(report.runs[0])) == report.runs[0]);
}

TEST_CASE("of several faults on a lost packet's path the one is told at whose wire it was lost") {
  const Scenario scenario = ring(
      "  - {at: 1us, wire_loss: {link: \"h0:p*\", direction: up, loss: 0.0001%, for: 300us}}\n" +
      std::string(kCosts));
  const TwinCase twins(scenario);
  const TwinMeasure all = run_twin(twins, twins.all(), {});
  REQUIRE(all.tolls.size() == 2);
  CHECK(all.tolls[0].packets == 0);
  CHECK(all.tolls[1].packets > 0);
}

TEST_CASE("what a fault costs the steps sums to what it costs the whole, to the picosecond") {
  const std::vector<TwinMeasure>& runs = runs_of_both();
  const TwinReport report = report_of(both(), runs);
  const WorkSteps& with = report.runs[0].works.at(0);
  REQUIRE(with.ends.size() == 5);
  CHECK(with.ends.back() == report.runs[0].done);
  FabricTime sum = with.begin;
  for (size_t step = 0; step < 5; ++step) sum += with.length_of(step);
  CHECK(sum == with.ends.back());
  REQUIRE(report.faults[0].hits.size() >= 1);
  CHECK(report.faults[0].hits[0].step == 1);
  CHECK(report.faults[0].hits[0].queue_pairs == 2);
  CHECK(report.total.total == *report.faults[0].cost.share + *report.faults[1].cost.share);
}

TEST_CASE("a fault that another one hides costs nothing beside it, and its cost alone is named") {
  Scenario scenario = both();
  std::get<endpoint::CollectiveSpec>(scenario.workload.at(0)).iterations = 3;
  const TwinReport report = run_twins(scenario, {});
  const FaultCost& hidden = report.faults[1].cost;
  CHECK(hidden.marginal == 0);
  CHECK(hidden.alone.value() > FabricTime::from_us(5).ps());
  CHECK(hidden.interaction == -*hidden.alone);
  CHECK(report.total.interaction == -*hidden.alone);
  CHECK(twin_sentence(report, 1).find(
            "cost nothing beside the others; alone it would have cost ") == 0);
}

TEST_CASE("a run of another seed is no twin, nor is one that differs before its faults do") {
  std::vector<TwinMeasure> runs = runs_of_both();
  Scenario other = ring(std::string(kCosts) + kHidden, "seed: 2\nend: 400us\n");
  runs[1] = run_twin(other, kNoFaults, cuts_of(other, sets_to_run(2)));
  CHECK(report_of(both(), runs).inconclusive ==
        "the run \"none\" has another history than \"all\" before 5us, where their faults begin to "
        "differ: they are no twins");
  // Without the first fault nothing may differ before 30us, though something did, at 5us.
  runs = runs_of_both();
  runs[2].prefixes = runs[1].prefixes;
  CHECK(report_of(both(), runs).inconclusive.find("\"only-2\" has another history") !=
        std::string::npos);
}

TEST_CASE("processes return what the run in this one does, as many of them as there are") {
  const TwinReport alone = run_twins(both(), {.jobs = 1});
  const TwinReport together = run_twins(both(), {.jobs = 3});
  CHECK(alone.runs == together.runs);
  CHECK(alone.runs == runs_of_both());
  CHECK_THROWS_AS(measure_of_text("{\"set\": 1}"), InputError);
}

TEST_CASE("a run that is not done at its end leaves no cost, and says so") {
  const TwinReport report = run_twins(ring(kCosts, "seed: 1\nend: 50us\n"), {});
  CHECK(report.inconclusive ==
        "the run \"none\" is not done at its end, at 50us: give it more time (end:)");
  CHECK(twin_sentence(report, 0) == "its cost is not known");
}

TEST_CASE("of work that goes on until the end the cost is what was not delivered") {
  const Scenario scenario = parse_scenario(
      read_yaml_text("name: open\nfabric: pair\nseed: 1\nend: 60us\nworkload:\n"
                     "  - permutation: {hosts: all, load: 90%, message: 64KiB}\nfaults:\n"
                     "  - {at: 20us, link_down: {link: \"h0:p0\", for: 20us}}\n",
                     "open"));
  const TwinReport report = run_twins(scenario, {});
  CHECK(report.inconclusive == "");
  CHECK(report.unit == TwinUnit::kBytes);
  CHECK(report.faults[0].cost.marginal.value() > 0);
  CHECK(report.runs[1].delivered.value - report.runs[0].delivered.value ==
        static_cast<uint64_t>(*report.total.total));
  const auto json = to_json({report});
  CHECK(json.at(0).at("unit") == "bytes");
  CHECK(json.at(0).at("with") == report.runs[0].delivered.value);
}

TEST_CASE("the times of a fault with every: are one fault") {
  const std::string text =
      "name: again\nfabric: pair\nseed: 1\nend: 400us\nworkload:\n"
      "  - all_reduce: {hosts: all, size: 256KiB, iterations: 4}\nfaults:\n"
      "  - {at: 10us, every: 10us, times: 3, wire_loss: {link: \"h1:p0\", loss: 100%, for: 2us}}\n"
      "  - {at: 15us, parallel: [{link_down: {link: \"h0:p0\", for: 5us}}, "
      "{link_down: {link: \"h0:p1\", for: 5us}}]}\n";
  const YamlValue document = read_yaml_text(text, "again");
  const Scenario scenario = parse_scenario(document);
  REQUIRE(scenario.faults.size() == 5);
  const TwinCase entries(scenario, groups_of_entries(scenario, *document.get("faults")));
  REQUIRE(entries.faults() == 3);
  CHECK(describe(entries, 0).find(", 3 times, the last at 30us") != std::string::npos);
  CHECK(with_faults(entries, fault_bit(0)).faults.size() == 3);
  CHECK(with_faults(entries, entries.all() & ~fault_bit(0)).faults.size() == 2);
  const TwinReport report = run_twins(entries, {});
  CHECK(report.runs.size() == 8);
  CHECK(report.inconclusive == "");
  CHECK(report.faults.size() == 3);
}

TEST_CASE("what a fault holds back is hidden under what the rank computes, until that ends") {
  const Scenario scenario = parse_scenario(read_yaml_text(
      "name: under\nfabric: pair\nseed: 1\nend: 900us\nworkload:\n"
      "  - job: {hosts: all, groups: {dp: 2}, steps: 2, phases: [{forward: {compute: 20us}}, "
      "{backward: {compute: 200us, after: [forward]}}, "
      "{grads: {all_reduce: {size: 256KiB}, after: [forward]}}]}\nfaults:\n"
      "  - {at: 22us, wire_loss: {link: \"h1:p*\", loss: 100%, for: 10us}}\n",
      "under"));
  const TwinReport report = run_twins(scenario, {});
  REQUIRE(report.faults[0].hidden);
  const Hidden& hidden = *report.faults[0].hidden;
  CHECK(hidden.held == "grads");
  CHECK(hidden.under == "backward");
  CHECK(hidden.until == FabricTime::from_us(220));
  CHECK(hidden.by > FabricTime::from_us(5));
  CHECK(twin_sentence(report, 0).find("hidden under backward until 220us: grads of rank ") == 0);
  CHECK(to_json({report}).at(0).at("faults").at(0).at("hidden").at("under") == "backward");
}

TEST_CASE("the table fits a terminal, and what is kept has a verdict and the history of its twin") {
  const test::TemporaryRuns runs;
  const TwinReport report = run_twins(ring(kCosts), {.out = runs.path()});
  for (const TwinMeasure& run : report.runs) {
    CAPTURE(run.folder);
    CHECK(std::filesystem::exists(std::filesystem::path(run.folder) / "verdict.json"));
    CHECK(run.history_sha256 ==
          run_twin(ring(kCosts), run.set, cuts_of(ring(kCosts), sets_to_run(1))).history_sha256);
    const Scenario left = read_run_scenario(run.folder);
    CHECK(left.faults.size() == (run.set == 1 ? 1 : 0));
  }
  std::istringstream lines(twin_text({report, report}, {}));
  for (std::string line; std::getline(lines, line);) {
    if (line.find(runs.path().string()) == std::string::npos) CHECK(line.size() <= 80);
  }
}

TEST_CASE("a job is measured step by step") {
  const auto with = [](const std::string& fault, const std::string& end) {
    return parse_scenario(
        read_yaml_text("name: trained\nfabric: pair\nseed: 1\nend: " + end +
                           "\nworkload:\n"
                           "  - job: {name: llama, hosts: all, steps: 3, phases: "
                           "[{forward: {compute: 10us}}, {grads: {all_reduce: {size: 256KiB}}}]}\n"
                           "faults:\n" +
                           fault,
                       "trained"));
  };
  const TwinReport report = run_twins(
      with("  - {at: 20us, wire_loss: {link: \"h1:p*\", loss: 100%, for: 10us}}\n", "600us"), {});
  CHECK(report.inconclusive == "");
  const WorkSteps& steps = report.runs[0].works.at(0);
  CHECK(steps.name == "llama");
  REQUIRE(steps.ends.size() == 3);
  CHECK(steps.ends.back() == report.runs[0].done);
  REQUIRE(report.faults[0].hits.size() >= 1);
  CHECK(report.faults[0].cost.marginal ==
        (steps.ends.back() - report.runs[1].works.at(0).ends.back()).ps());
  CHECK(twin_sentence(report, 0).find(" of step 1 (") != std::string::npos);
}

TEST_CASE("without faults, or with programs or without an end, there are no twins") {
  Scenario scenario = both();
  scenario.faults.clear();
  CHECK_THROWS_AS(check_twins(scenario), InputError);
  scenario = both();
  scenario.end = FabricTime::never();
  CHECK_THROWS_AS(check_twins(scenario), InputError);
  scenario = both();
  scenario.programs.emplace_back();
  CHECK_THROWS_AS(check_twins(scenario), InputError);
  scenario = both();
  scenario.faults.resize(kMaxTwinFaults + 1, scenario.faults.front());
  CHECK_THROWS_AS(check_twins(scenario), InputError);
}

TEST_CASE(
    "twins of a run that ends with its work each end with their own, beside what never ends") {
  const auto twins_of = [](const std::string& end) {
    const Scenario scenario = parse_scenario(read_yaml_text(
        "name: ends\nfabric: pair\nseed: 5\nend: " + end +
            "\nworkload:\n"
            "  - job: {ranks: [h1, h0], steps: 3,\n"
            "          phases: [{c: {compute: 4us}}, {x: {all_reduce: {size: 64KiB}}}]}\n"
            "  - write: {from: h0, to: h1, size: 4KiB, until: end, depth: 1}\n"
            "faults:\n  - {at: 6us, wire_loss: {link: \"h1:p*\", loss: 100%, for: 40us}}\n",
        "ends"));
    return run_twins(scenario, {.jobs = 1});
  };
  const TwinReport report = twins_of("{jobs: 2ms}");
  CHECK(report.inconclusive == "");
  CHECK(report.unit == TwinUnit::kTime);
  REQUIRE(report.runs.size() == 2);
  const TwinMeasure &all = report.runs[0], &none = report.runs[1];
  REQUIRE(all.done);
  REQUIRE(none.done);
  CHECK(*all.done == all.works.at(0).ends.at(2));  // the write goes on, and is not waited for
  CHECK(report.faults[0].cost.marginal == (*all.done - *none.done).ps());
  CHECK(*all.done - *none.done >= FabricTime::from_us(30));
  CHECK(all.delivered.value < twins_of("2ms").runs[0].delivered.value / 2);  // it stops there
}

TEST_CASE("a job that went on after queue pairs had failed is done when its steps have ended") {
  const Scenario scenario = parse_scenario(read_yaml_text(
      "name: on\nfabric: octet\nseed: 1\nend: 4ms\ntransport: {timers: compressed}\nworkload:\n"
      "  - job: {ranks: [h0, h1, h2], steps: 3, checkpoint: {every: 1},\n"
      "          on_error: {then: restart, watchdog: never, detect: 1us, answer: 40us,\n"
      "                     restart: 10us, load: 1us, spares: [h5]},\n"
      "          phases: [{f: {compute: 5us}}, {g: {all_reduce: {size: 64KiB}}}]}\n"
      "faults:\n  - {at: 8us, host_restart: {host: h1, down: 1ms}}\n",
      "on"));
  const TwinReport report = run_twins(scenario, {.jobs = 1});
  CHECK(report.inconclusive == "");
  const TwinMeasure& all = report.runs[0];
  CHECK(all.qps_failed > 0);
  REQUIRE(all.works.at(0).ends.size() == 3);
  CHECK(all.done == all.works[0].ends.back());
  CHECK(report.faults[0].cost.marginal.value() > FabricTime::from_ms(1).ps());
}
