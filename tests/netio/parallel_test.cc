#include "netio/kernel/parallel.h"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <stdexcept>
#include <string>

using mrclab::netio::in_parallel;

TEST_SUITE("parallel") {
  TEST_CASE("every index is worked on once, with more threads than work and with fewer") {
    for (const size_t threads : {1u, 4u, 200u}) {
      std::array<std::atomic<int>, 100> calls{};
      in_parallel(calls.size(), threads, [&](size_t i) { ++calls[i]; });
      for (const auto& count : calls) CHECK(count == 1);
    }
    in_parallel(0, 4, [](size_t) { FAIL("there is nothing to do"); });
  }

  TEST_CASE("what one call throws comes out when all threads have ended") {
    std::atomic<int> calls{0};
    const auto failing = [&](size_t i) {
      ++calls;
      if (i == 3) throw std::runtime_error("the fourth");
    };
    CHECK_THROWS_WITH_AS(in_parallel(1000, 4, failing), "the fourth", std::runtime_error);
    CHECK(calls >= 4);
  }
}
