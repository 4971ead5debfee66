#pragma once
// What the ranks of a collective put in, and what comes out: ramps, so that every result, sums too, has a closed form.

#include "endpoint/workload/ramp.h"
#include "fabric/base/random.h"

namespace mrclab::endpoint {

/// `seed`: from the run's seed and the workload, the same on all hosts.
struct CollectiveData {
  uint64_t seed = 0;
  size_t hosts = 0;

  Ramp input_of(size_t rank, uint32_t iteration) const {
    const uint64_t random = draw(seed, NodeId{static_cast<uint32_t>(rank)}, PortId{},
                                 DrawPurpose::kWorkload, iteration);
    return {static_cast<uint32_t>(random), static_cast<uint32_t>(random >> 32) | 1};
  }
  Ramp sum_of(uint32_t iteration) const {
    Ramp sum;
    for (size_t rank = 0; rank < hosts; ++rank) sum = sum + input_of(rank, iteration);
    return sum;
  }
};

}  // namespace mrclab::endpoint
