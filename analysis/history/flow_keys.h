#pragma once
// Flows and pairs of hosts as keys of a hash table.

#include <cstdint>

namespace mrclab::analysis {

inline uint64_t pair_key(uint32_t source, uint32_t destination) {
  return uint64_t{source} << 32 | destination;
}

/// Exact for up to 2^20 hosts; QPNs have 24 bits.
inline uint64_t flow_key(uint32_t source, uint32_t destination, uint32_t qp) {
  return uint64_t{source} << 44 | uint64_t{destination} << 24 | qp;
}

}  // namespace mrclab::analysis
