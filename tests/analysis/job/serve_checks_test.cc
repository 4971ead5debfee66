// What must hold of services: how long requests wait for tokens, and how many are within the objective.

#include <doctest/doctest.h>

#include "analysis/checks/checks.h"
#include "analysis/serve/serve_text.h"
#include "tests/support/sample_job.h"
#include "tests/support/synthetic_traffic.h"

namespace mrclab::analysis {
namespace {

using test::percent;
using test::us;

/// Ten requests, one each 50 us, of 11 tokens each: the i-th waits 20 + i us for its first token, 2 us of that for the
/// fabric, and each token behind it takes 5 us, of which the fabric has 1.
JobResult sample_service() {
  JobResult job;
  job.name = "chat";
  job.ranks = {"h0", "h1"};
  job.steps.resize(1);
  job.planned = 1;
  ServeResult& serve = job.serve.emplace();
  serve.prefill_ranks = serve.decode_ranks = 1;
  serve.objective = RequestObjective{us(28), us(5)};
  serve.compression = 2;
  for (int64_t i = 0; i < 10; ++i) {
    ServedRequest& request = serve.requests.emplace_back();
    request.arrival = us(50 * i);
    request.input = 100;
    request.output = request.tokens = 11;
    request.decode_rank = 1;
    request.computed = request.arrival + us(10);
    request.cached = request.arrival + us(12);
    request.first_token = request.arrival + us(20 + i);
    request.last_token = request.first_token + us(50);
    request.fabric_ttft = us(2);
    request.fabric_tpot = us(1);
  }
  return job;
}

/// A run of 1ms without packets, and of one service.
struct ServeStory : test::TrafficStory {
  explicit ServeStory(JobResult job = sample_service()) : TrafficStory("services") {
    traffic.flows = {};
    run.inputs.jobs = {std::move(job)};
    run.inputs.jobs[0].serve->end = us(1000);
  }
  ServedRequest& request(size_t number) { return run.inputs.jobs[0].serve->requests[number]; }
  /// Its first token does not come.
  void stop(size_t number) {
    request(number).first_token = request(number).last_token = FabricTime::never();
    request(number).tokens = 0;
  }
};

ExpectTtft ttft(FabricTime at_most, MessageTimeMeasure by = MessageTimeMeasure::kMax,
                ServePart part = ServePart::kWhole) {
  return {{}, at_most, by, part};
}

}  // namespace

TEST_CASE("first tokens are judged by the slowest request, a percentile or the median") {
  ServeStory story;
  const CheckResult check = story.check(ttft(us(29)));
  CHECK(check.about == "time to the first token, longest, ≤ 29us");
  CHECK(check.note == "request 9 of chat took 29us");
  CHECK(check.result == Result::kPass);
  CHECK(*check.measured == doctest::Approx(29));
  const CheckResult late = story.check(ttft(us(28)));
  CHECK(late.result == Result::kFail);
  REQUIRE(late.where);
  CHECK(late.where->who == "request 9 of chat, h0 (rank 0) to h1 (rank 1)");
  CHECK(story.result(ttft(us(24), MessageTimeMeasure::kP50)) == Result::kPass);
  CHECK(story.result(ttft(us(23), MessageTimeMeasure::kP50)) == Result::kFail);
  CHECK(story.result(ttft(us(2), MessageTimeMeasure::kP99, ServePart::kFabric)) == Result::kPass);
  CHECK(story.result(ttft(us(1), MessageTimeMeasure::kP99, ServePart::kFabric)) == Result::kFail);
  CHECK(story.result(ExpectTtft{us(29)}) == Result::kPass);
  CHECK(story.result(ExpectTtft{us(30)}) == Result::kFail);
}

TEST_CASE("a request that is open counts with the time so far, and keeps a check from passing") {
  ServeStory story;
  story.stop(4);  // for 800 us
  CHECK(story.result(ttft(us(790))) == Result::kFail);
  const CheckResult open = story.check(ttft(us(810)));
  CHECK(open.result == Result::kInconclusive);
  CHECK(open.note == "request 4 of chat took 800us; 1 open");
  CHECK(story.result(ttft(us(27), MessageTimeMeasure::kP50)) == Result::kPass);  // of ten the fifth
  CHECK(story.result(ExpectTtft{us(800)}) == Result::kPass);
  story.run.inputs.jobs[0].died = JobDeath{1, "Retry Counter Exceeded", us(900)};
  CHECK(story.result(ttft(us(810))) == Result::kFail);
}

TEST_CASE("later tokens are judged by their mean, of answers that have some") {
  ServeStory story;
  CHECK(story.result(ExpectTpot{{}, us(5)}) == Result::kPass);
  CHECK(story.result(ExpectTpot{{}, us(4)}) == Result::kFail);
  CHECK(story.result(ExpectTpot{{}, us(1), MessageTimeMeasure::kMax, ServePart::kFabric}) ==
        Result::kPass);
  for (size_t i = 0; i < 10; ++i) {
    story.request(i).output = story.request(i).tokens = 1;
    story.request(i).last_token = story.request(i).first_token;
  }
  CHECK(story.result(ExpectTpot{{}, us(5)}) == Result::kInconclusive);
}

TEST_CASE("the share within the objective counts what keeps both of its times") {
  ServeStory story;
  const CheckResult check = story.check(ExpectSlo{percent(90)});
  CHECK(check.result == Result::kPass);  // the last waited 29 us
  CHECK(check.about == "requests within the objective ≥ 90 %");
  CHECK(check.note == "9 of 10 requests of chat within 28us and 5us");
  CHECK(story.result(ExpectSlo{percent(91)}) == Result::kFail);
  CHECK(story.result(ExpectSlo{{}, percent(90)}) == Result::kPass);
  CHECK(story.result(ExpectSlo{{}, percent(89)}) == Result::kFail);
  story.request(0).last_token += us(1);  // 5.1 us a token
  CHECK(story.result(ExpectSlo{percent(90)}) == Result::kFail);
  story.request(0).last_token = FabricTime::never();  // open, and late by now
  CHECK(story.result(ExpectSlo{percent(90)}) == Result::kFail);
  story.request(0).arrival = story.request(0).first_token = us(990);  // open, and not late yet
  CHECK(story.result(ExpectSlo{percent(90)}) == Result::kInconclusive);
  CHECK(story.result(ExpectSlo{percent(80)}) == Result::kPass);
}

TEST_CASE("a run without a service, or whose times are not known, passes nothing") {
  ServeStory story;
  const std::vector<Expectation> all{ttft(us(900)), ExpectTpot{{}, us(900)}, ExpectSlo{percent(1)}};
  story.run.inputs.jobs[0].missing = "h1 left no times";
  for (const Expectation& expectation : all) {
    CHECK(story.check(expectation).note == "h1 left no times");
    CHECK(story.result(expectation) == Result::kInconclusive);
  }
  story.run.inputs.jobs[0] = test::sample_job();
  for (const Expectation& expectation : all) {
    CHECK(story.check(expectation).note == "the run had no such service");
  }
}

TEST_CASE("a service's lines have its times, its objective and how much the run is compressed") {
  const JobResult job = [] {
    JobResult made = sample_service();
    made.serve->end = us(1000);
    made.serve->messages = {{"kv", 12, 2, 1000, us(1), us(2), us(3), us(4)}};
    return made;
  }();
  CHECK(serve_headline(job) == "chat: 1 prefill and 1 decode rank, 10 of 10 requests served");
  const std::vector<std::string> lines = serve_lines(*job.serve);
  REQUIRE(lines.size() == 5);
  CHECK(lines[0] == "first token: p50 24us, p99 29us, max 29us; the fabric's p50 2us, max 2us");
  CHECK(lines[1] ==
        "each token behind it: p50 5us, p99 5us, max 5us; the fabric's p50 1us, max 1us");
  // From the first arrival to the last token, at 529 us, the service takes 1.058 ms for nine of them.
  CHECK(lines[2] ==
        "within 28us and 5us: 9 of 10 requests (90.0 %), 8506.62 a second of the service");
  CHECK(lines[3] == "messages kv: 12, p50 1us, p99 2us, p99.9 3us, max 4us, 2 open");
  CHECK(lines[4] == "the service takes 2.0 times as long as this run of it");
  CHECK(to_json(*job.serve).at("objective").at("within") == 9);
  const std::string csv = serve_csv(*job.serve);
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 11);
  CHECK(csv.find(
            "9,450000000,100,11,0,1,0,460000000,462000000,479000000,529000000,11,29000000,2000000,"
            "5000000,1000000,no\n") != std::string::npos);
}

}  // namespace mrclab::analysis
