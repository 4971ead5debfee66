#pragma once
// How far beyond the cumulative PSN a requester may send: what was agreed, or with dynamic MPR what the
// destination's newest SACK allows (MRC specification: MPR, received_units). Where SACKs always begin behind the
// cumulative PSN (`sack_base: cumulative`) their 64 bits are the end as well (our choice): what arrives beyond
// them is not acknowledged, and would be taken for lost.

#include <algorithm>
#include <cstdint>

#include "endpoint/base/connection_attributes.h"
#include "endpoint/base/sequence.h"
#include "endpoint/base/transport_profile.h"
#include "fabric/packet/headers.h"

namespace mrclab::endpoint {

class PsnRange {
 public:
  PsnRange(uint32_t agreed, SackBase base)
      : most_(base == SackBase::kCumulative ? std::min(agreed, kSackBits) : agreed),
        packets_(most_) {}

  /// The first sequence that may not be sent yet.
  Sequence end(Sequence begin) const { return begin + packets_; }

  /// SACKs overtake each other: only the newest counts. The least range is one unit (our choice): with
  /// none, nothing would be under way whose SACK could open it again.
  void adopt(const Seth& seth, Sequence cumulative) {
    const auto units_later = static_cast<int32_t>((seth.received_units - units_) << 8) >> 8;
    if (cumulative < cumulative_ || units_later < 0) return;
    cumulative_ = cumulative;
    units_ = seth.received_units;
    packets_ = std::min(std::max(seth.mpr * kMprUnit, kMprUnit), most_);
  }

 private:
  static constexpr uint32_t kSackBits = 64;

  uint32_t most_;
  uint32_t packets_;
  Sequence cumulative_ = -1;  ///< the cumulative PSN of the newest SACK
  uint32_t units_ = 0;        ///< its received_units
};

}  // namespace mrclab::endpoint
