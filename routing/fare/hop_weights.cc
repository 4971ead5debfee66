#include "routing/fare/hop_weights.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <numeric>

namespace mrclab::routing {

namespace {

using Steps = std::vector<uint64_t>;  // bandwidths in steps of the grid

/// Weights when the least bandwidth has weight `base`; by rounding.
std::vector<uint32_t> scaled_weights(const Steps& steps, uint64_t least, uint64_t base) {
  std::vector<uint32_t> weights;
  for (const uint64_t step : steps) {
    weights.push_back(static_cast<uint32_t>((2 * step * base + least) / (2 * least)));
  }
  return weights;
}

/// The worst share's error, in millionths of itself.
uint64_t worst_error(const Steps& steps, const std::vector<uint32_t>& weights, uint64_t least,
                     uint64_t base) {
  uint64_t worst = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    const uint64_t wanted = steps[i] * base, given = weights[i] * least;
    const uint64_t off = wanted > given ? wanted - given : given - wanted;
    worst = std::max(
        worst, static_cast<uint64_t>(static_cast<unsigned __int128>(off) * 1'000'000 / wanted));
  }
  return worst;
}

uint64_t sum_of(const std::vector<uint32_t>& weights) {
  return std::accumulate(weights.begin(), weights.end(), uint64_t{0});
}

/// All above 0, no more of them than the group takes. The smallest weights within the tolerance, else the best
/// ones that fit.
std::vector<uint32_t> weights_of(const Steps& steps, const WeightLimits& limits) {
  const uint64_t least = *std::min_element(steps.begin(), steps.end());
  std::vector<uint32_t> best;
  uint64_t best_error = std::numeric_limits<uint64_t>::max();
  for (uint64_t base = 1; base <= limits.group_size; ++base) {
    const uint64_t most = *std::max_element(steps.begin(), steps.end());
    if (most / least * base > limits.group_size) break;
    std::vector<uint32_t> weights = scaled_weights(steps, least, base);
    if (sum_of(weights) > limits.group_size) break;
    const uint64_t error = worst_error(steps, weights, least, base);
    if (error >= best_error) continue;
    best_error = error;
    best = std::move(weights);
    if (best_error <= limits.tolerance_ppm) return best;
  }
  if (!best.empty()) return best;
  // Even with weight 1 for the least the others are too many: all above 1 shrink alike.
  uint64_t sum = 0;
  for (const uint64_t step : steps) sum += step;
  const uint64_t spare = limits.group_size - steps.size();
  for (const uint64_t step : steps) {
    const auto extra = static_cast<unsigned __int128>(step) * spare / sum;
    best.push_back(1 + static_cast<uint32_t>(extra));
  }
  return best;
}

}  // namespace

std::vector<uint32_t> hop_weights(std::span<const BitRate> bandwidths, const WeightLimits& limits) {
  assert(limits.grid.bps > 0 && limits.group_size > 0);
  const bool drained =
      std::all_of(bandwidths.begin(), bandwidths.end(), [](BitRate rate) { return rate.bps == 0; });
  Steps steps;
  std::vector<size_t> places;
  for (size_t i = 0; i < bandwidths.size() && places.size() < limits.group_size; ++i) {
    if (bandwidths[i].bps == 0 && !drained) continue;
    const uint64_t step = (bandwidths[i].bps + limits.grid.bps / 2) / limits.grid.bps;
    // The products of weights_of() stay within 64 bits, and what is less than a step is still something.
    steps.push_back(drained ? 1 : std::clamp<uint64_t>(step, 1, uint64_t{1} << 40));
    places.push_back(i);
  }
  std::vector<uint32_t> weights(bandwidths.size(), 0);
  if (places.empty()) return weights;
  const std::vector<uint32_t> found = weights_of(steps, limits);
  for (size_t i = 0; i < places.size(); ++i) weights[places[i]] = found[i];
  return weights;
}

}  // namespace mrclab::routing
