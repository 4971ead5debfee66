// What must hold of jobs: how long steps take, what of them is exposed, who holds up the others, what ends a job.

#include <doctest/doctest.h>

#include "analysis/checks/checks.h"
#include "tests/support/sample_job.h"
#include "tests/support/synthetic_traffic.h"

namespace mrclab::analysis {
namespace {

using test::delay_step;
using test::percent;
using test::sample_job;
using test::stop_job;
using test::us;

/// A run of 1ms without packets, in which h2:p0 fails from 400us to 600us, and of one job.
struct JobStory : test::TrafficStory {
  explicit JobStory(JobResult job = sample_job()) : TrafficStory("jobs") {
    traffic.flows = {};
    run.add_link_fault("h2:p0", test::kFault, test::kHeal);
    run.inputs.faults[0].impairments.clear();
    run.inputs.jobs = {std::move(job)};
  }
  JobResult& job() { return run.inputs.jobs[0]; }
};

ExpectStepTime steps_at_most(uint32_t percents, StepReference of = StepReference::kRoofline) {
  return {Ratio{percents * Ratio::kOne / 100}, of};
}
ExpectStepTime steps_at_most(FabricTime time) { return {time}; }

ExpectStepsDone steps(uint32_t count) { return {StepNumber{count}}; }

const Probability kThird = percent(33), kFifth = percent(20);

}  // namespace

TEST_CASE("every step that counts takes at most a share of its roofline") {
  JobStory story;
  const CheckResult check = story.check(steps_at_most(125));
  CHECK(check.note == "step 1 of llama took 100us, 125.0 % of 80us");
  CHECK(check.result == Result::kPass);
  CHECK(check.about == "time of each step ≤ 125 % of roofline");
  CHECK(*check.measured == doctest::Approx(100));
  CHECK(*check.bound == doctest::Approx(100));
  REQUIRE(check.looked);
  CHECK(to_string(*check.looked) ==
        "7 steps by operation times, 0s to 1ms");  // the warm-up is none
  CHECK(story.result(steps_at_most(124)) == Result::kFail);
  CHECK(story.result(steps_at_most(us(100))) == Result::kPass);
  CHECK(story.result(steps_at_most(us(99))) == Result::kFail);
}

TEST_CASE("one slow step fails, and is named with the rank that computed longest") {
  JobStory story;
  delay_step(story.job(), 4, us(20));
  story.job().steps[4].slowest = 2;
  const CheckResult check = story.check(steps_at_most(115, StepReference::kMedian));
  CHECK(check.result == Result::kFail);
  CHECK(check.note == "step 4 of llama took 120us, 120.0 % of 100us");
  REQUIRE(check.where);
  CHECK(check.where->who == "step 4 of llama, slowest h2 (rank 2)");
  CHECK(check.where->from == us(500));
  CHECK(story.result(steps_at_most(120, StepReference::kMedian)) == Result::kPass);
  ExpectStepTime later = steps_at_most(115, StepReference::kMedian);
  later.from_step = {5};
  CHECK(story.result(later) == Result::kPass);
}

TEST_CASE("the baseline of steps is the mean of those before the first fault") {
  JobStory story;  // steps 1 and 2 end by 400us
  for (const size_t step : {1, 2}) story.job().steps[step].end -= us(20);
  CHECK(story.result(steps_at_most(125, StepReference::kBaseline)) == Result::kPass);
  CHECK(story.result(steps_at_most(124, StepReference::kBaseline)) == Result::kFail);
  story.run.inputs.faults[0].start = us(150);  // before any step that counts
  const CheckResult none = story.check(steps_at_most(500, StepReference::kBaseline));
  CHECK(none.result == Result::kInconclusive);
  CHECK(none.note == "llama: no step that counts ended before a first fault");
  story.run.inputs.faults.clear();
  CHECK(story.result(steps_at_most(500, StepReference::kBaseline)) == Result::kInconclusive);
}

TEST_CASE("without a roofline, or enough steps for a median, steps are not judged by it") {
  JobStory story(sample_job(3));
  CHECK(story.result(steps_at_most(500, StepReference::kMedian)) == Result::kInconclusive);
  for (JobStep& step : story.job().steps) step.ideal = FabricTime::zero();
  const CheckResult check = story.check(steps_at_most(500));
  CHECK(check.result == Result::kInconclusive);
  CHECK(check.note == "llama: its roofline is not known");
}

TEST_CASE("steps that are open or have not begun keep a check from passing, not from failing") {
  JobStory story;
  stop_job(story.job(), 6);  // open since 700us, for 300us
  const CheckResult open = story.check(steps_at_most(us(400)));
  CHECK(open.result == Result::kInconclusive);
  CHECK(open.note == "6 of 8 steps of llama have ended");
  const CheckResult late = story.check(steps_at_most(us(250)));
  CHECK(late.result == Result::kFail);
  CHECK(late.note == "step 6 of llama, open, took 300us");
  CHECK(story.result(ExpectExposed{percent(50)}) == Result::kInconclusive);
  CHECK(story.result(ExpectStraggler{percent(100)}) == Result::kInconclusive);
  CHECK(story.result(ExpectStraggler{percent(2)}) == Result::kFail);
}

TEST_CASE("no job, another job, or one whose times are not known passes nothing") {
  JobStory story;
  story.job().missing = "h3 left no times";
  const std::vector<Expectation> all{
      steps_at_most(us(900)), ExpectExposed{percent(100)}, ExpectStraggler{percent(100)}, steps(1),
      ExpectJobAlive{},       ExpectJobDies{"x"}};
  for (const Expectation& expectation : all) {
    const CheckResult check = story.check(expectation);
    CHECK_MESSAGE(check.result == Result::kInconclusive, check.about);
    CHECK(check.note == "h3 left no times");
  }
  story.job().died = JobDeath{1, "x", us(500)};
  CHECK(story.result(ExpectJobDies{"x"}) == Result::kInconclusive);
  CHECK(story.result(ExpectJobAlive{}) == Result::kFail);
  story.job().died.reset();
  story.job().missing = "";
  ExpectJobAlive other;
  other.job = "mixtral";
  CHECK(story.check(other).note == "the run had no such job");
  CHECK(story.result(other) == Result::kInconclusive);
  story.run.inputs.jobs.clear();
  for (const Expectation& expectation : all) {
    CHECK(story.result(expectation) == Result::kInconclusive);
  }
}

TEST_CASE("exposed communication is a share of the steps' time, of all groups or of one") {
  JobStory story;
  const CheckResult all = story.check(ExpectExposed{percent(30)});
  CHECK(all.result == Result::kPass);
  CHECK(all.about == "exposed communication ≤ 30 % of the steps' time");
  CHECK(all.note == "210us of 700us of llama");
  CHECK(story.result(ExpectExposed{percent(29)}) == Result::kFail);
  CHECK(story.result(ExpectExposed{kFifth, "dp"}) == Result::kPass);
  CHECK(story.result(ExpectExposed{percent(19), "dp"}) == Result::kFail);
  CHECK(story.result(ExpectExposed{percent(10), "tp"}) == Result::kPass);
  const CheckResult none = story.check(ExpectExposed{kThird, "ep"});
  CHECK(none.result == Result::kInconclusive);
  CHECK(none.note == "llama exchanges nothing in a group ep");
}

TEST_CASE("a rank that computes longer than the median rank is a straggler") {
  JobStory story;
  CHECK(story.result(ExpectStraggler{percent(5)}) == Result::kPass);  // 63us of 60us
  story.job().steps[5].slowest_compute = us(66);
  story.job().steps[5].slowest = 3;
  const CheckResult check = story.check(ExpectStraggler{percent(5)});
  CHECK(check.result == Result::kFail);
  CHECK(*check.measured == doctest::Approx(10));
  CHECK(check.note == "h3 (rank 3) computed for 66us in step 5 of llama, the median rank for 60us");
  for (JobStep& step : story.job().steps) step.median_compute = FabricTime::zero();
  CHECK(story.result(ExpectStraggler{percent(100)}) == Result::kInconclusive);
}

TEST_CASE("steps that ended are counted, of several jobs where they are fewest") {
  JobStory story;
  CHECK(story.result(steps(8)) == Result::kPass);
  CHECK(story.result(steps(9)) == Result::kFail);
  story.run.inputs.jobs.push_back(sample_job(5));
  story.run.inputs.jobs[1].name = "mixtral";
  const CheckResult check = story.check(steps(6));
  CHECK(check.result == Result::kFail);
  CHECK(check.note == "5 of mixtral");
  ExpectStepsDone first = steps(6);
  first.job = "llama";
  CHECK(story.result(first) == Result::kPass);
  stop_job(story.job(), 3);
  CHECK(story.check(first).note == "3 of llama; step 3 is open since 400us");
}

TEST_CASE("a job lives until a rank of it ends with an error") {
  JobStory story;
  CHECK(story.result(ExpectJobAlive{}) == Result::kPass);
  stop_job(story.job(), 5);  // it goes on
  CHECK(story.result(ExpectJobAlive{}) == Result::kPass);
  story.job().died = JobDeath{3, "queue pair 0x12 to h2: Retry Counter Exceeded", us(900)};
  const CheckResult check = story.check(ExpectJobAlive{});
  CHECK(check.result == Result::kFail);
  CHECK(check.note ==
        "h3 (rank 3) of llama at 900us: queue pair 0x12 to h2: Retry Counter Exceeded");
  CHECK(story.check(steps(8)).proven);
  story.job().died.reset();
  story.job().steps.clear();
  CHECK(story.check(ExpectJobAlive{}).note == "llama has not begun");
  CHECK(story.result(ExpectJobAlive{}) == Result::kInconclusive);
}

TEST_CASE("a job dies of what is named, within a time from the first fault") {
  JobStory story;
  const std::string reason = "Retry Counter Exceeded";
  CHECK(story.check(ExpectJobDies{reason}).note == "llama was done at 900us");
  CHECK(story.result(ExpectJobDies{reason}) == Result::kFail);
  stop_job(story.job(), 5);
  CHECK(story.result(ExpectJobDies{reason, us(700)}) ==
        Result::kInconclusive);  // 600us have gone by
  CHECK(story.result(ExpectJobDies{reason, us(500)}) == Result::kFail);
  story.job().died = JobDeath{3, "queue pair 0x12 to h2: " + reason, us(900)};
  const CheckResult check = story.check(ExpectJobDies{reason, us(500)});
  CHECK(check.result == Result::kPass);
  CHECK(*check.measured == doctest::Approx(500));
  CHECK(check.about == "time until a job dies of \"Retry Counter Exceeded\" ≤ 500us");
  CHECK(story.result(ExpectJobDies{reason, us(499)}) == Result::kFail);
  CHECK(story.check(ExpectJobDies{"watchdog"}).note ==
        "llama died of something else: queue pair 0x12 to h2: Retry Counter Exceeded");
}

TEST_CASE("a job whose host loses its power is dead, though no rank reports it") {
  JobStory story;
  HostState off;
  off.host = story.topology.host(2);
  off.work = HostWork::kDown;
  story.run.inputs.schedule = {{us(950), off}};
  CHECK(story.result(ExpectJobAlive{}) == Result::kPass);  // it was done at 900us
  story.run.inputs.schedule = {{us(700), off}};
  const CheckResult check = story.check(ExpectJobAlive{});
  CHECK(check.result == Result::kFail);
  CHECK(check.note == "h2 (rank 2) of llama at 700us: its host lost its power");
  story.job().ranks[2] = "h9";
  CHECK(story.result(ExpectJobAlive{}) == Result::kPass);
}

TEST_CASE("a step has the faults that were on, and the losses of the job's queue pairs") {
  JobStory story;
  const auto lose = [&](uint32_t source, uint32_t destination, uint32_t psn, FabricTime at) {
    test::SyntheticRun::Sent sent;
    sent.source = source;
    sent.destination = destination;
    sent.psn = psn;
    sent.start = at;
    story.run.run.lost(sent, "p0.t0-1:d0", "wire_down");
  };
  lose(0, 2, 1, us(450));
  lose(0, 2, 2, us(460));
  lose(1, 3, 3, us(560));
  const auto analyzed = [&] { return story.run.analyze().verdict.jobs.at(0).steps; };
  std::vector<JobStep> steps = analyzed();
  const std::vector<uint32_t> first{0};
  CHECK(steps[2].faults.empty());  // until 400us, when it begins
  CHECK(steps[3].faults == first);
  CHECK(steps[4].faults == first);
  CHECK(steps[5].faults.empty());  // from 600us, when it is over
  CHECK(steps[3].lost == 2);
  CHECK(steps[4].lost == 1);
  CHECK(steps[5].lost == 0);
  story.job().queue_pairs = {{3, Qpn{0x100}}};
  steps = analyzed();
  CHECK(steps[3].lost == 0);
  CHECK(steps[4].lost == 1);
}

}  // namespace mrclab::analysis
