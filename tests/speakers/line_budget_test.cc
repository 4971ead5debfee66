#include "live/bgpd/line_budget.h"

#include <doctest/doctest.h>

using mrclab::lab::LineBudget;

TEST_CASE("a burst of lines is written, then so many a second, and what is left out is counted") {
  LineBudget::Time now{};
  LineBudget budget(now);
  uint64_t written = 0;
  for (uint64_t i = 0; i < LineBudget::kBurst + 10; ++i) written += budget.may_write_line(now);
  CHECK(written == LineBudget::kBurst);
  CHECK(budget.take_left_out() == 10);
  CHECK(budget.take_left_out() == 0);
  // A day of a neighbour that never pauses.
  for (int second = 0; second < 86'400; ++second) {
    now += std::chrono::seconds(1);
    for (int i = 0; i < 100; ++i) written += budget.may_write_line(now);
  }
  CHECK(written == LineBudget::kBurst + 864'000);
  // What was not used is kept, up to the burst.
  now += std::chrono::hours(24 * 30);
  written = 0;
  for (uint64_t i = 0; i < 2 * LineBudget::kBurst; ++i) written += budget.may_write_line(now);
  CHECK(written == LineBudget::kBurst);
}
