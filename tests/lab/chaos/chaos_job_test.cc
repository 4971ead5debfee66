// Chaos with jobs: what a seed draws, what is asked of it, and how it is made smaller.

#include "lab/chaos/chaos_job.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "fabric/topology/build_topology.h"
#include "lab/chaos/chaos.h"
#include "lab/chaos/reductions.h"
#include "lab/twin/explained_share.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

const endpoint::JobWorkload& job_in(const Scenario& scenario) {
  return std::get<endpoint::JobWorkload>(scenario.workload.front());
}

bool expects_steps(const Scenario& scenario) {
  return std::any_of(scenario.expect.begin(), scenario.expect.end(), [](const auto& each) {
    return std::holds_alternative<analysis::ExpectStepsDone>(each);
  });
}

}  // namespace

TEST_CASE("a seed with a job is a scenario like any other, and the job is drawn from the seed") {
  const ChaosBase base = load_chaos_base("octet+job");
  std::set<std::string> groups;
  std::set<size_t> ranks;
  size_t judged = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const Scenario scenario = chaos_scenario(base, seed).scenario;
    const std::string text = to_yaml(scenario);
    CHECK(text == to_yaml(chaos_scenario(base, seed).scenario));
    const job::JobSpec& spec = job_in(scenario).spec;
    CHECK(to_yaml(parse_scenario(read_yaml_text(text, "seed"))) == text);
    ranks.insert(spec.hosts.size());
    for (const job::GroupKind& kind : spec.groups) groups.insert(kind.name);
    judged += expects_steps(scenario) ? 1 : 0;
  }
  CHECK(groups == std::set<std::string>{"dp", "ep", "pp", "tp"});
  CHECK(ranks.size() >= 6);
  CHECK(judged >= 30);
}

TEST_CASE("without jobs a seed has what it always had: their draws are a stream of their own") {
  const ChaosBase with = load_chaos_base("octet+job"), without = load_chaos_base("octet");
  const ChaosScenario one = chaos_scenario(with, 5), other = chaos_scenario(without, 5);
  CHECK(one.scenario.faults == other.scenario.faults);
  CHECK(one.scenario.transport == other.scenario.transport);
  for (const endpoint::WorkloadSpec& spec : other.scenario.workload) {
    CHECK_FALSE(std::holds_alternative<endpoint::JobWorkload>(spec));
  }
}

TEST_CASE("a job goes on until faults are over, and has few packets") {
  const Topology octet = build_topology(load_chaos_base("octet").fabric);
  const FabricTime until = FabricTime::from_us(500);
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    const DrawnJob drawn = draw_job(seed, octet, until);
    CHECK(drawn.ideal >= until);
    CHECK(drawn.work.spec.steps <= kMaxJobSteps);
  }
}

TEST_CASE("only a fabric can have jobs of chaos") {
  CHECK_THROWS_AS(load_chaos_base("link-flap+job"), InputError);
}

TEST_CASE(
    "a job that is made smaller stays one, and no more steps are expected of it than it has") {
  const Scenario scenario = parse_scenario(
      read_yaml_text("name: many\nfabric: octet\nseed: 1\nworkload:\n"
                     "  - job: {hosts: all, groups: {tp: 2, dp: 4}, steps: 8, jitter: 2%, phases: "
                     "[{forward: {compute: 10us}}, {sum: {all_reduce: {group: tp, size: 64KiB}}}, "
                     "{grads: {all_reduce: {group: dp, size: 64KiB}, after: sum}}]}\n"
                     "end: 900us\nexpect: [steps_done: 8]\n",
                     "many"));
  const auto reduction = std::find_if(reductions().begin(), reductions().end(),
                                      [](const Reduction& each) { return each.name == "hosts"; });
  REQUIRE(reduction != reductions().end());
  std::set<uint32_t> steps, ranks;
  std::set<size_t> phases;
  for (const Scenario& offer : reduction->offers(scenario)) {
    const job::JobSpec& spec = job_in(offer).spec;
    const auto& done = std::get<analysis::ExpectStepsDone>(offer.expect.front());
    CHECK(done.at_least.value == spec.steps);
    CHECK(job_in(offer).plan->planned.steps == spec.steps);
    steps.insert(spec.steps);
    ranks.insert(spec.ranks());
    phases.insert(spec.phases.size());
  }
  CHECK(steps == std::set<uint32_t>{4, 8});
  CHECK(ranks == std::set<uint32_t>{4, 8});
  CHECK(phases ==
        std::set<size_t>{2, 3});  // without "sum" nothing comes before "grads": not offered
}

TEST_CASE("what lost packets cost a job is explained by them, and not where nobody looks at them") {
  const ChaosBase base = load_chaos_base("octet+job");
  const ExplainedSeed seed = explain_seed(base, 1);
  CHECK(seed.is_delayed());
  CHECK(seed.by_data.time == seed.due);
  CHECK(seed.faults_shown < seed.faults_due);
  CHECK(explained_seed_from_json(to_json(seed).dump()) == seed);
  CHECK(share_of({seed}, &ExplainedSeed::by_signs).of_all == doctest::Approx(1));
  const ExplainedSeed blind = explain_seed(base, 1, SignsSeen{});
  CHECK(blind.due == seed.due);
  CHECK(blind.faults_shown == 0);
  CHECK(share_of({blind}, &ExplainedSeed::by_signs).of_all == doctest::Approx(0));
  CHECK_THROWS_AS(explained_seed_from_json("{\"seed\": 1}"), InputError);
}

TEST_CASE("seeds whose jobs are late count by how late they are, the others not") {
  ExplainedSeed late;
  late.without = FabricTime::from_us(100);
  late.due = FabricTime::from_us(10);
  late.by_signs.time = FabricTime::from_us(10);
  ExplainedSeed half = late;
  half.due = FabricTime::from_us(30);
  half.by_signs.time = FabricTime::from_us(15);
  ExplainedSeed hidden;
  hidden.without = FabricTime::from_us(100);
  hidden.due = FabricTime::from_ns(50);
  CHECK_FALSE(hidden.is_delayed());
  const ExplainedShare signs = share_of({late, half, hidden}, &ExplainedSeed::by_signs);
  CHECK(signs.of_all == doctest::Approx(25.0 / 40));
  CHECK(signs.of_mean == doctest::Approx(0.75));
  CHECK(share_of({late}, &ExplainedSeed::by_blame).of_all == doctest::Approx(0));
  CHECK(explained_text({late, half, hidden}).find("62.5 %, must be 95 %") != std::string::npos);
}
