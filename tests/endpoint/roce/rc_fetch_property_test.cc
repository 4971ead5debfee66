// READs, atomics and WRITEs of RC in one order, however packets and answers are lost, repeated or late.

#include <doctest/doctest.h>

#include <cstring>
#include <deque>

#include "tests/support/nightly.h"
#include "tests/support/property.h"
#include "tests/support/rc_pair.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::RcPair;
using mrclab::test::us;

namespace {

struct Step {
  WorkKind kind = WorkKind::kWrite;
  uint64_t offset = 0;  ///< in both memories
  uint32_t length = 0;
  uint64_t value = 0;
};

std::vector<Step> any_steps() {
  const auto count = *rc::gen::inRange<size_t>(1, 40);
  std::vector<Step> steps(count);
  for (Step& step : steps) {
    const auto kind = *rc::gen::inRange(0, 4);
    step.kind = kind == 0   ? WorkKind::kWrite
                : kind == 1 ? WorkKind::kRead
                : kind == 2 ? WorkKind::kFetchAdd
                            : WorkKind::kCompareSwap;
    step.offset = *rc::gen::inRange<uint64_t>(0, 1000) * 8;
    step.length = *rc::gen::inRange<uint32_t>(0, 9000);
    step.value = *rc::gen::inRange<uint64_t>(0, 3);
  }
  return steps;
}

/// What one step after the other does.
struct Model {
  std::vector<uint8_t> far = std::vector<uint8_t>(RcPair::kRegion);
  std::vector<std::vector<uint8_t>> answers;

  void run(const Step& step, std::span<const uint8_t> source) {
    const auto at = far.begin() + static_cast<std::ptrdiff_t>(step.offset);
    if (step.kind == WorkKind::kWrite) {
      std::copy_n(source.begin() + static_cast<std::ptrdiff_t>(step.offset), step.length, at);
    } else if (step.kind == WorkKind::kRead) {
      answers.emplace_back(at, at + step.length);
    } else {
      answers.emplace_back(at, at + 8);
      uint64_t word = 0;
      std::memcpy(&word, &*at, 8);
      if (step.kind == WorkKind::kFetchAdd) word += step.value;
      if (step.kind == WorkKind::kCompareSwap && word == step.value) word = step.value + 1;
      std::memcpy(&*at, &word, 8);
    }
  }
};

void check(const std::vector<Step>& steps, RcPair::Options options) {
  RcPair pair(std::move(options));
  Model model;
  std::deque<std::vector<uint8_t>> into;
  std::deque<SpanAccess> access;
  std::deque<RemoteOperation> operations;
  for (size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    model.run(step, pair.near().source);
    WriteRequest request = RcPair::request(pair.far(), i, step.offset, step.length);
    request.local = std::span<const uint8_t>(pair.near().source).subspan(step.offset, step.length);
    request.kind = step.kind;
    request.fence = true;
    if (has_response(step.kind)) {
      const uint64_t size = step.kind == WorkKind::kRead ? step.length : 8;
      into.emplace_back(size, uint8_t{0xEE});
      access.emplace_back(std::span<uint8_t>(into.back()));
      operations.push_back({&access.back(), step.value, step.value + 1});
      request.local = ConstMemory::elided(size);
      request.operation = &operations.back();
    }
    RC_ASSERT(pair.post(request));
  }
  pair.run_until(us(200'000));
  RC_ASSERT(pair.near().failure == "");
  RC_ASSERT(pair.near().completed.size() == steps.size());
  for (size_t i = 0; i < steps.size(); ++i) RC_ASSERT(pair.near().completed[i] == i);
  RC_ASSERT(std::equal(model.far.begin(), model.far.end(), pair.far().bytes.begin()));
  for (size_t i = 0; i < into.size(); ++i) RC_ASSERT(into[i] == model.answers[i]);
}

}  // namespace

TEST_CASE("READs and atomics happen once and in order, whatever is lost, repeated or late") {
  CHECK(test::counterexample(
            [] {
              RcPair::Options options;
              options.seed = *rc::gen::arbitrary<uint64_t>();
              options.lose_percent = *rc::gen::inRange<uint32_t>(0, 12);
              options.repeat_percent = *rc::gen::inRange<uint32_t>(0, 12);
              options.spread_us = *rc::gen::inRange<uint32_t>(0, 12);
              options.first_psn = Psn{*rc::gen::element(100u, 0xFF'FFF0u)};
              options.rc.retries = 1000;
              options.rc.reads = options.rc.reads_taken = *rc::gen::inRange<uint32_t>(1, 17);
              options.rc.recovery = *rc::gen::element(RcRecovery::kGoBackN, RcRecovery::kSelective);
              check(any_steps(), std::move(options));
            },
            test::nightly() ? 10'000 : 200) == "");
}
