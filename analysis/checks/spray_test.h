#pragma once
// Is a spray even? Pearson's chi-square test of uniformity: how likely are counts at least as uneven as
// these, if every packet picked its path at random and all paths alike. A sender that takes turns is
// more even than chance: its p is near 1.

#include <boost/math/special_functions/gamma.hpp>
#include <cstdint>
#include <exception>
#include <span>

namespace mrclab::analysis {

struct SprayTest {
  size_t paths = 0;  ///< degrees of freedom + 1
  uint64_t packets = 0;
  double statistic = 0;
  double p = 1;  ///< 1 when there is nothing to test
};

inline SprayTest test_spray(std::span<const uint64_t> counts) {
  SprayTest test{counts.size(), 0, 0, 1};
  for (const uint64_t count : counts) test.packets += count;
  if (counts.size() < 2 || test.packets == 0) return test;
  const double expected = static_cast<double>(test.packets) / static_cast<double>(counts.size());
  for (const uint64_t count : counts) {
    const double off = static_cast<double>(count) - expected;
    test.statistic += off * off / expected;
  }
  try {
    test.p = boost::math::gamma_q(static_cast<double>(counts.size() - 1) / 2, test.statistic / 2);
  } catch (const std::exception&) {  // beyond what a double holds: as good as impossible
    test.p = 0;
  }
  return test;
}

}  // namespace mrclab::analysis
