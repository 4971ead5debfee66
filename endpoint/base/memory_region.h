#pragma once
// A memory region as both ends of a connection see it.

#include <cstdint>

#include "fabric/base/units.h"

namespace mrclab::endpoint {

/// A piece of memory that a peer may write to.
struct RegionPlan {
  uint64_t va = 0;
  uint32_t rkey = 0;
  Bytes size;
};

}  // namespace mrclab::endpoint
