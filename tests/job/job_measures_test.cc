// What a run of a job was like, against times that are computed by hand; and sums that hold for every job.

#include <doctest/doctest.h>

#include <algorithm>

#include "job/measure/job_export.h"
#include "job/measure/job_measures.h"
#include "job/measure/job_table.h"
#include "tests/job/measured_jobs.h"
#include "tests/support/texts.h"

using namespace mrclab;
using namespace mrclab::job;
using namespace mrclab::job::made;
using mrclab::test::lines_of;
using mrclab::test::widest_line;

namespace {

FabricTime ns(int64_t count) { return FabricTime::from_ns(count); }

JobMeasures measured(const PlannedJob& plan) {
  const JobProgram program(plan.graph);
  return measure_job(plan, program, ideal_times(program, kByteANanosecond));
}

FabricTime sum_of(const std::vector<PathPart>& path) {
  FabricTime sum;
  for (const PathPart& part : path) {
    CHECK(part.time > FabricTime::zero());
    sum += part.time;
  }
  return sum;
}

void check_sums(const JobMeasures& measures) {
  FabricTime all;
  for (const StepMeasure& step : measures.steps) {
    if (!step.finished) continue;
    all += step.time();
    CHECK(step.compute + step.exposed + step.bubble == step.time());
    CHECK(step.bubble >= FabricTime::zero());
    CHECK(sum_of(step.path) == step.time());
    FabricTime by_group;
    for (const GroupExposure& of : step.exposed_by) {
      CHECK(of.mean <= of.most);
      CHECK(of.most <= step.time());
      by_group += of.mean;
    }
    CHECK(by_group + ns(1) >= step.exposed);  // means are rounded down
  }
  if (measures.jct == FabricTime::never()) return;
  CHECK(all == measures.jct);
  CHECK(sum_of(measures.path) == measures.jct);
}

}  // namespace

TEST_CASE("a step is computing, exposed exchange and standing still, and names who held it up") {
  const JobMeasures measures = measured(straggler_and_reduce());
  REQUIRE(measures.finished == 1);
  CHECK(measures.jct == ns(2800));
  const StepMeasure& step = measures.steps[0];
  CHECK(step.time() == ns(2800));
  CHECK(step.compute == ns(400));   // 500 and 300
  CHECK(step.exposed == ns(2250));  // from 500, when both are there, to 2700 and 2800
  CHECK(step.bubble == ns(150));    // rank 1 waits 200, rank 0 is through 100 before the end
  REQUIRE(measures.groups == std::vector<std::string>{"dp"});
  CHECK(step.exposed_by[0].mean == ns(2250));
  CHECK(step.exposed_by[0].most == ns(2300));
  CHECK(step.exposed_by[0].most_rank == 1);
  CHECK(step.slowest_rank == 0);
  CHECK(step.straggler() == doctest::Approx(500.0 / 300));
  CHECK(step.waited_for == 0);
  CHECK(step.waited == ns(200));
  CHECK(step.bytes == 4000);
  const std::vector<PathPart> path{
      {PathPart::Kind::kExchange, "dp", 0, ns(2300)},  // 500 to 1600 to 2800
      {PathPart::Kind::kWaitFor, "", 0, ns(500)},
  };
  CHECK(step.path == path);
  REQUIRE(measures.collectives.size() == 1);
  CHECK(measures.collectives[0].time.p99 == ns(2300));
  CHECK(measures.collectives[0].busbw_p50.bps == 2000ull * 8 * 1'000'000'000 / 2300);
}

TEST_CASE(
    "what is exchanged while a rank computes is not exposed; a receiver waits for its sender") {
  // Rank 0 computes 1000 and sends 500 bytes: sent at 1000, there at 1600, acknowledged at 1700. Rank 1 computes beside
  // its receive.
  const auto step_with = [](int64_t computing) {
    PlanMaker maker(2);
    maker.compute(0, 1000);
    maker.message(0, 1, 500);
    maker.beside(1);
    maker.compute(1, computing);
    const JobMeasures measures = measured(maker.plan());
    check_sums(measures);
    return measures.steps[0];
  };
  const StepMeasure early = step_with(200);
  CHECK(early.time() == ns(1700));
  CHECK(early.compute == ns(600));
  CHECK(early.exposed == ns(650));  // 700 and 600
  CHECK(early.waited_for == 0);
  CHECK(early.waited == ns(800));  // from 200 to 1000
  const StepMeasure late = step_with(1200);
  CHECK(late.compute == ns(1100));
  CHECK(late.exposed == ns(550));  // 700, and 400 from 1200 to 1600
  CHECK(late.waited_for == kNoRank);
}

TEST_CASE("a step ends with its last rank, and the next one begins there") {
  PlanMaker maker(2);
  maker.compute(0, 100, 0);
  maker.compute(1, 400, 0);
  maker.compute(0, 500, 1);
  maker.compute(1, 300, 1);
  const JobMeasures measures = measured(maker.plan(2));
  CHECK(measures.steps[0].time() == ns(400));
  CHECK(measures.steps[1].time() == ns(300));
  CHECK(measures.steps[1].first_op == ns(100));
  CHECK(measures.step_time.mean == ns(350));
  CHECK(measures.step_time.p50 == ns(300));
  CHECK(measures.steps[0].slowest_rank == 1);
  CHECK(measures.steps[1].slowest_rank == 0);
  CHECK(measures.straggler == doctest::Approx(4.0));
  check_sums(measures);
}

TEST_CASE("a step that did not finish is named with what hangs, and those before it are measured") {
  PlanMaker maker(2);
  maker.compute(0, 100, 0);
  maker.message(0, 1, 50, 1);
  const PlannedJob plan = maker.plan(3);
  const JobProgram program(plan.graph);
  OpTimes times = ideal_times(program, kByteANanosecond);
  times[2].end = times[1].end = FabricTime::never();  // the message is lost for good
  const JobMeasures measures = measure_job(plan, program, times);
  CHECK(measures.finished == 1);
  CHECK(measures.jct == FabricTime::never());
  CHECK(measures.steps[0].time() == ns(100));
  CHECK_FALSE(measures.steps[1].finished);
  CHECK(measures.steps[1].ended_ops == 0);
  CHECK(measures.steps[1].stuck == 2);  // the receive began first
  CHECK(unfinished_text(measures) == "steps 1-2");
  CHECK(to_table(measures, plan).find("receive") != std::string::npos);
  check_sums(measures);
}

TEST_CASE("the ideal of a job that ran on the ideal network is its own time") {
  const PlannedJob plan = straggler_and_reduce();
  const JobProgram program(plan.graph);
  OpTimes times = ideal_times(program, kByteANanosecond);
  JobMeasures measures = measure_job(plan, program, times);
  CHECK_FALSE(measures.jct_ratio());
  compare_with_ideal(measures, plan, program, kByteANanosecond);
  CHECK(measures.jct_ratio() == doctest::Approx(1.0));
  CHECK(measures.steps[0].ideal == ns(2800));
}

TEST_CASE("in every job that is drawn, parts sum to steps and steps to the job's time") {
  size_t waits = 0, exchanges = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    const PlannedJob plan = drawn_job(seed);
    const JobProgram program(plan.graph);
    OpTimes times = ideal_times(program, kByteANanosecond);
    const JobMeasures measures = measure_job(plan, program, times);
    check_sums(measures);
    for (const PathPart& part : measures.path) {
      waits += part.kind == PathPart::Kind::kWaitFor;
      exchanges += part.kind == PathPart::Kind::kExchange;
    }
    // A run that was cut: nothing that would have begun or ended later is known.
    const FabricTime cut = measures.jct / 2;
    for (OpTime& time : times) {
      if (time.begin > cut) time.begin = FabricTime::never();
      if (time.end > cut) time.end = FabricTime::never();
    }
    check_sums(measure_job(plan, program, times));
  }
  CHECK(waits > 100);
  CHECK(exchanges > 100);
}

TEST_CASE("a table of many steps is of few lines, none wider than a terminal") {
  PlanMaker maker(2);
  const uint32_t dp = maker.group({0, 1});
  constexpr uint32_t kSteps = 500;
  for (uint32_t step = 0; step < kSteps; ++step) {
    for (const uint32_t rank : {0u, 1u}) {
      maker.compute(rank, 100 + step, step);
      maker.collective(Collective::kAllReduce, rank, dp, 400, step);
    }
  }
  const PlannedJob plan = maker.plan(kSteps);
  const JobMeasures measures = measured(plan);
  const std::string table = to_table(measures, plan);
  CAPTURE(table);
  CHECK(lines_of(table).size() < 30);
  CHECK(widest_line(table) <= 80);
  CHECK(table.find("500 of 500 steps finished") != std::string::npos);
  CHECK(table.find("480-499") != std::string::npos);
  CHECK(lines_of(to_csv(measures)).size() == 1 + kSteps);
}

TEST_CASE("JSON and CSV have the numbers of the measures") {
  const JobMeasures measures = measured(straggler_and_reduce());
  const auto json = to_json(measures);
  CHECK(json["jct_ps"] == 2'800'000);
  CHECK(json["jct_ratio"] == nullptr);
  CHECK(json["steps"][0]["exposed"]["dp"]["most_ps"] == 2'300'000);
  CHECK(json["steps"][0]["path"][0]["what"] == "exchange dp");
  CHECK(json["collectives"][0]["group"] == "dp");
  CHECK(to_csv(measures).find("\nmade,0,1,0,2800000,2800000,,400000,2250000,150000,0,1.666667,0,"
                              "200000,4000,2250000\n") != std::string::npos);
}
