#pragma once
// From bandwidths to the integer weights of a group in a switch's table. A switch has no weights: it has groups
// of members, and a next hop of weight 2 is there twice. So the sum of weights is limited by the size of a group.

#include <cstdint>
#include <span>
#include <vector>

#include "fabric/base/units.h"

namespace mrclab::routing {

struct WeightLimits {
  /// Bandwidths are rounded to it first: a float32 has 74.99999962 for 75, and then nothing has a common
  /// divisor. Not 0.
  BitRate grid{1'000'000};
  uint32_t group_size =
      256;  ///< members of a group (our choice; Linux has weights up to 256); not 0
  /// Smaller weights are taken if no share is off by more than this part of itself; our choice.
  uint32_t tolerance_ppm = 100;
};

/// Weights in the order of `bandwidths`, each at least 1, but 0 for a bandwidth of 0 beside others (it is being
/// drained; RFC 10005 section 3), and for what exceeds the group size. All 0: equal weights.
std::vector<uint32_t> hop_weights(std::span<const BitRate> bandwidths, const WeightLimits& limits);

}  // namespace mrclab::routing
