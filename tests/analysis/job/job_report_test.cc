// What is shown of a job: a table of few lines, verdict.json, the page.

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "analysis/report/job_table.h"
#include "analysis/report/picture.h"
#include "analysis/report/verdict_form.h"
#include "analysis/verdict/job_text.h"
#include "tests/support/sample_job.h"
#include "tests/support/synthetic_traffic.h"
#include "tests/support/texts.h"

namespace mrclab::analysis {
namespace {

using test::delay_step;
using test::lines_of;
using test::mentions;
using test::sample_job;
using test::us;
using test::widest_line;

std::string table_of(const JobResult& job, size_t width = 80) {
  TextTable table({width});
  add_job(job, table);
  return table.take();
}

}  // namespace

TEST_CASE("a job has its times, its parts and its slowest steps in a few lines") {
  JobResult job = sample_job();
  delay_step(job, 4, us(20));
  job.steps[4].lost = 12;
  job.steps[4].faults = {0, 2};
  const std::vector<std::string> lines = lines_of(table_of(job));
  REQUIRE(lines.size() == 11);
  CHECK(lines[0] == "job llama: 4 ranks, 8 of 8 steps, done at 920us");
  CHECK(lines[1] == "  7 steps from 1: mean 102.857us, median 100us, p99 120us");
  CHECK(lines[2] == "  computing 58.3 %, exposed 31.9 % (dp 22.2 %, tp 9.7 %), bubble 9.7 %");
  CHECK(lines[3] == "  roofline 80us a step (mean +28.6 %), 640us the job (+28.1 %)");
  CHECK(lines[4] == "  its end waited for: compute 60.0 %, exchange dp 40.0 %");
  CHECK(lines[5] == "  slowest   took  over median  lost  exposed  rank  faults");
  CHECK(lines[6] == "  step 1   100us       +0.0 %     -   30.0 %  h0    -");
  CHECK(lines[9] == "  step 4   120us      +20.0 %    12   41.7 %  h0    1, 3");
}

TEST_CASE("of a job no more than twelve lines are shown, none too wide, whatever it is called") {
  for (const size_t width : {60, 80, 120}) {
    JobResult job = sample_job(1000);
    job.name = std::string(32, 'n');
    job.ranks.assign(64, std::string(40, 'h'));
    for (JobStep& step : job.steps) {
      step.end = step.begin + FabricTime::from_ps(123'456'789'012);
      step.lost = 1'000'000'000;
      for (uint32_t i = 0; i < 100; ++i) step.faults.push_back(i);
      for (int i = 0; i < 40; ++i) step.exposed_by.push_back({std::string(40, 'g'), us(9)});
    }
    for (int i = 0; i < 40; ++i) job.path.push_back({std::string(60, 'p'), us(5)});
    job.died = JobDeath{63, std::string(300, 'r') + std::string(700, ' ') + "end", us(950)};
    const std::string text = table_of(job, width);
    CHECK(lines_of(text).size() <= kMaxJobLines);
    CHECK(widest_line(text) <= width);
    CHECK(mentions(text, " died at"));
  }
}

TEST_CASE("a job that died or hangs says so first, and has its open step in the table") {
  JobResult job = sample_job();
  test::stop_job(job, 6);
  std::string text = table_of(job);
  CHECK(mentions(text, "6 of 8 steps, not done"));
  CHECK(mentions(text, "  step 6    open            -"));
  job.missing = "h3 left no times";
  CHECK(mentions(table_of(job), "6 of 8 steps; h3 left no times"));
  job.steps.clear();
  CHECK(lines_of(table_of(job)).size() == 1);
}

TEST_CASE("verdict.json has each job as its schema says, with what is not known as null") {
  JobResult job = sample_job(3);
  job.steps[1].lost = 4;
  job.steps[2].ideal = FabricTime::zero();
  const auto json = to_json(job);
  CHECK(json.at("jct_ns") == 300'000);
  CHECK(json.at("step_time").at("steps") == 2);
  CHECK(json.at("step_time").at("ideal_ns").is_null());  // not known of both
  CHECK(json.at("steps")[1].at("lost") == 4);
  CHECK(json.at("steps")[0].at("lost").is_null());
  CHECK(json.at("steps")[0].at("exposed_by_ns").at("dp") == 20'000);
  CHECK(json.at("steps")[0].at("straggler_percent") == 5);
  CHECK(json.at("died").is_null());
  test::TrafficStory story("job-verdict");
  story.run.inputs.jobs = {job, sample_job(2)};
  test::stop_job(story.run.inputs.jobs[1], 1);
  story.run.inputs.jobs[1].died = JobDeath{9, "it was cut", us(300)};
  const Analysis analysis = story.run.analyze();
  const std::string verdict = to_json(analysis.verdict);
  CHECK_NOTHROW(check_form(read_yaml_text(verdict, "verdict"), verdict_form(), FormDepth::kWhole));
  CHECK(nlohmann::json::parse(verdict).at("jobs").size() == 2);
  CHECK(mentions(to_table(analysis.verdict), "job llama: 4 ranks, 3 of 3 steps"));
}

TEST_CASE("steps beyond a bound are counted, not written") {
  const auto json = to_json(sample_job(kMaxStepsWritten + 5));
  CHECK(json.at("steps").size() == kMaxStepsWritten);
  CHECK(json.at("steps_left_out") == 5);
  CHECK(json.at("done") == kMaxStepsWritten + 5);
}

TEST_CASE("the page gets a rank's operations by group, and no more than it can draw") {
  test::TrafficStory story("job-picture");
  JobResult job = sample_job(2);
  job.ops = {{0, 0, us(100), us(160), ""}, {1, 0, us(160), us(190), "tp"}};
  story.run.inputs.jobs = {job, job};
  story.run.inputs.jobs[1].ops.resize(kMaxJobOps + 7);
  const Analysis analysis = story.run.analyze();
  const auto jobs = nlohmann::json::parse(analysis.picture).at("jobs");
  CHECK(jobs[0].at("groups") == nlohmann::json({"computing", "dp", "tp"}));
  CHECK(jobs[0].at("ops") == nlohmann::json({{0, 0, 100, 160, 0}, {1, 0, 160, 190, 2}}));
  CHECK(jobs[1].at("ops").size() == kMaxJobOps);
  CHECK(jobs[1].at("left_out") == 7);
}

}  // namespace mrclab::analysis
