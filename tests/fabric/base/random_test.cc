// The random function must never change: recorded runs repeat only as long as it gives these
// values.

#include "fabric/base/random.h"

#include <doctest/doctest.h>

#include <array>

using namespace mrclab;

TEST_CASE("the mixer is SplitMix64") {
  // First output of the reference implementation (Vigna, splitmix64.c) for state 0.
  CHECK(mix64(0) == 0xe220a8397b1dcdaf);
}

TEST_CASE("draws have the values that an independent computation gives") {
  // Computed with the same formula in Python integers.
  constexpr uint64_t kMax = ~uint64_t{0};
  CHECK(draw(1, NodeId{0}, PortId{0}, DrawPurpose::kEcnMark, 0) == 0x91df2b1652002e2d);
  CHECK(draw(1, NodeId{0}, PortId{0}, DrawPurpose::kEcnMark, 1) == 0x81ec387567b76b2d);
  CHECK(draw(1, NodeId{0}, PortId{0}, DrawPurpose::kWireLoss, 0) == 0xe39577b38a75a32e);
  CHECK(draw(1, NodeId{7}, PortId{3}, DrawPurpose::kEvShuffle, 12345) == 0x6a8003839486541e);
  CHECK(draw(kMax, NodeId{5}, PortId{}, DrawPurpose::kIdentity, kMax) == 0x9555f296436b94a7);
}

TEST_CASE("every argument of a draw matters") {
  const uint64_t base = draw(1, NodeId{2}, PortId{3}, DrawPurpose::kTrim, 4);
  CHECK(draw(2, NodeId{2}, PortId{3}, DrawPurpose::kTrim, 4) != base);
  CHECK(draw(1, NodeId{3}, PortId{3}, DrawPurpose::kTrim, 4) != base);
  CHECK(draw(1, NodeId{2}, PortId{2}, DrawPurpose::kTrim, 4) != base);
  CHECK(draw(1, NodeId{2}, PortId{3}, DrawPurpose::kFault, 4) != base);
  CHECK(draw(1, NodeId{2}, PortId{3}, DrawPurpose::kTrim, 5) != base);
}

TEST_CASE("chance is never for zero and always for one") {
  constexpr uint64_t kMax = ~uint64_t{0};
  CHECK_FALSE(chance(0, {0}));
  CHECK(chance(kMax, {Probability::kOne}));
  CHECK_FALSE(chance(kMax, {Probability::kOne - 1}));
  CHECK(chance(0, {1}));
}

TEST_CASE("below stays below its bound and reaches every value") {
  constexpr uint64_t kMax = ~uint64_t{0};
  CHECK(below(kMax, 10) == 9);
  CHECK(below(0, 10) == 0);
  CHECK(below(kMax, 1) == 0);
  std::array<int, 10> hits{};
  for (uint64_t i = 0; i < 10'000; ++i) ++hits[below(mix64(i), 10)];
  for (const int n : hits) {
    CHECK(n > 850);
    CHECK(n < 1'150);
  }
}
