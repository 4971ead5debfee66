// Random programs of mutations against a live pair of hosts. The fuzz target fuzz_endpoint runs the
// same harness with a search for coverage; what it found is repeated here.

#include "tests/support/hostile_program.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/property.h"

using namespace mrclab::test;

TEST_CASE("what the search has found stays healed") {
  struct Finding {
    const char* what;
    std::vector<uint8_t> program;
  };
  // RC, one write of one byte, and eight steps of zeros: each loses the next frame.
  std::vector<uint8_t> eight_losses(6 + 8 * 6);
  eight_losses[1] = 0xC0;
  for (const Finding& finding : {
           // The last ACK and three probes lost: the other retries ran out without a question.
           Finding{"retries that ask nothing",
                   {0, 0, 0, 0, 34, 0, 50, 0, 0, 0, 0, 0, 53, 1, 0, 0, 0, 2, 0}},
           // A harness that allowed RC as many losses as MRC: RC gives up after fewer retries.
           Finding{"an RC packet and its seven retries lost", eight_losses},
       }) {
    INFO(std::string(finding.what));
    CHECK(run_hostile_program(finding.program).violation == "");
  }
}

TEST_CASE("whatever happens to packets, each byte arrives right or the queue pair fails cleanly") {
  uint64_t frames = 0, disturbed = 0, failed = 0, forged = 0;
  CHECK(counterexample(
            [&](const std::vector<uint8_t>& program) {
              const HostileOutcome outcome = run_hostile_program(program);
              frames += outcome.frames;
              disturbed += outcome.disturbances;
              failed += outcome.qps_failed;
              forged += outcome.forged ? 1 : 0;
              if (!outcome.violation.empty()) RC_FAIL(outcome.violation);
            },
            400, 200) == "");
  // The attack reached its target.
  CHECK(frames > 20'000);
  CHECK(disturbed > 2'000);
  CHECK(failed > 0);
  CHECK(forged > 100);
}

TEST_CASE(
    "RC: whatever happens to packets, each byte arrives right or the queue pair fails cleanly") {
  uint64_t frames = 0, disturbed = 0, failed = 0, forged = 0;
  CHECK(counterexample(
            [&](std::vector<uint8_t> program) {
              program.resize(std::max<size_t>(program.size(), 6));
              program[1] |= 0xC0;  // RC (hostile_setup.h)
              const HostileOutcome outcome = run_hostile_program(program);
              frames += outcome.frames;
              disturbed += outcome.disturbances;
              failed += outcome.qps_failed;
              forged += outcome.forged ? 1 : 0;
              if (!outcome.violation.empty()) RC_FAIL(outcome.violation);
            },
            400, 200) == "");
  CHECK(frames > 10'000);
  CHECK(disturbed > 2'000);
  CHECK(failed > 0);
  CHECK(forged > 100);
}
