#pragma once
// PSNs wrap after 2^24 packets; inside the endpoint a packet is identified by its Sequence, its position
// in its queue pair's stream, which never wraps.

#include <cstdint>

#include "fabric/base/ids.h"
#include "fabric/base/units.h"

namespace mrclab::endpoint {

/// 0 is the first packet of the stream; -1 stands for "none yet".
using Sequence = int64_t;

/// Translates between the PSNs of one direction of a queue pair and sequences.
class PsnSpace {
 public:
  explicit PsnSpace(Psn first) : first_(first) {}
  Psn psn(Sequence sequence) const { return Psn{first_.value() + static_cast<uint32_t>(sequence)}; }
  /// The sequence nearest to `near` that has this PSN (half window 2^23).
  Sequence sequence(Psn psn_value, Sequence near) const { return near + (psn_value - psn(near)); }

 private:
  Psn first_;
};

/// TSETH: 16 bits in units of 128 ns (MRC specification, tables 6-6 and 6-7).
inline constexpr FabricTime kTimestampUnit = FabricTime::from_ns(128);
constexpr uint16_t tx_timestamp(FabricTime t) {
  return static_cast<uint16_t>(t.ps() / kTimestampUnit.ps() & 0xFFFF);
}

}  // namespace mrclab::endpoint
