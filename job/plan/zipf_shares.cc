#include "job/plan/zipf_shares.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fabric/base/random.h"

namespace mrclab::job {
namespace {

constexpr double kMillion = 1e6;
constexpr uint32_t kFractionBits = 24;  ///< of the exponent: the rest changes no share

/// base^(thousandths/1000), by IEEE 754's exact rules, where pow() of two libraries may differ.
double power(double base, uint32_t thousandths) {
  double result = 1;
  for (uint32_t i = 0; i < thousandths / 1000; ++i) result *= base;
  double root = base;
  uint64_t fraction = (uint64_t{thousandths % 1000} << kFractionBits) / 1000;
  for (uint32_t bit = kFractionBits; bit-- > 0;) {
    root = std::sqrt(root);
    if ((fraction >> bit & 1) != 0) result *= root;
  }
  return result;
}

}  // namespace

std::vector<uint32_t> zipf_shares(uint32_t count, uint32_t thousandths, uint64_t key) {
  std::vector<uint32_t> shares;
  for (uint32_t k = 1; k <= count; ++k) {
    const double share = kMillion / power(k, thousandths);
    shares.push_back(std::max(1u, static_cast<uint32_t>(share)));
  }
  for (uint32_t i = count; i > 1; --i) {
    std::swap(shares[i - 1], shares[below(mix64(key ^ i), i)]);
  }
  return shares;
}

uint32_t imbalance_thousandths(const std::vector<uint32_t>& shares) {
  const uint64_t sum = std::accumulate(shares.begin(), shares.end(), uint64_t{0});
  if (sum == 0) return 0;
  const uint64_t most = *std::max_element(shares.begin(), shares.end());
  return static_cast<uint32_t>(most * 1000 * shares.size() / sum);
}

}  // namespace mrclab::job
