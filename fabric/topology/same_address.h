#pragma once

#include "fabric/base/byte_order.h"
#include "fabric/topology/topology.h"

namespace mrclab {

/// In two comparisons, for those who ask it for every packet; those of arrays are calls.
inline bool same_address(const Ipv6Address& a, const Ipv6Address& b) {
  return load_be<uint64_t>(a.data()) == load_be<uint64_t>(b.data()) &&
         load_be<uint64_t>(a.data() + 8) == load_be<uint64_t>(b.data() + 8);
}

}  // namespace mrclab
