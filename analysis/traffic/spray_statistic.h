#pragma once
// Is a spray even? Pearson's chi-square test of uniformity: how likely are counts at least as uneven as
// these, if every packet picked its path at random and all paths alike. A sender that takes turns is
// more even than chance: its p is near 1.

#include <boost/math/special_functions/gamma.hpp>
#include <cstdint>
#include <exception>
#include <span>

namespace mrclab::analysis {

struct SprayStatistic {
  size_t paths = 0;  ///< degrees of freedom + 1
  uint64_t packets = 0;
  double chi_square = 0;
  double p = 1;  ///< 1 when there is nothing to test
};

inline SprayStatistic spray_statistic(std::span<const uint64_t> counts) {
  SprayStatistic spray{counts.size(), 0, 0, 1};
  for (const uint64_t count : counts) spray.packets += count;
  if (counts.size() < 2 || spray.packets == 0) return spray;
  const double expected = static_cast<double>(spray.packets) / static_cast<double>(counts.size());
  for (const uint64_t count : counts) {
    const double off = static_cast<double>(count) - expected;
    spray.chi_square += off * off / expected;
  }
  try {
    spray.p =
        boost::math::gamma_q(static_cast<double>(counts.size() - 1) / 2, spray.chi_square / 2);
  } catch (const std::exception&) {  // beyond what a double holds: as good as impossible
    spray.p = 0;
  }
  return spray;
}

}  // namespace mrclab::analysis
