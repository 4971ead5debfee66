#pragma once
// Which ranks of a job share a host, and with it its NIC. A message between two ranks of one host is copied there: it takes
// a time of its own, and no way through the fabric.

#include <cstdint>
#include <vector>

#include "fabric/base/units.h"

namespace mrclab::job {

struct RankSites {
  std::vector<uint32_t> host_of;  ///< by rank; empty: each rank has a host to itself
  BitRate rate;        ///< at which a rank copies, one message after the other; 0: at once
  FabricTime latency;  ///< from the end of a copy until the other rank has it

  bool is_shared(uint32_t a, uint32_t b) const {
    return !host_of.empty() && host_of[a] == host_of[b];
  }
  /// In which a rank copies a message, without the latency.
  FabricTime copy_time(uint64_t bytes) const {
    return rate.bps == 0 ? FabricTime::zero() : serialization_time({bytes}, rate);
  }
  bool operator==(const RankSites&) const = default;
};

}  // namespace mrclab::job
