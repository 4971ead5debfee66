#pragma once
// What a write packet costs beside its payload.

#include "fabric/base/units.h"
#include "fabric/packet/header_sizes.h"
#include "fabric/packet/headers.h"

namespace mrclab::endpoint {

/// What a write packet takes on the wire beside its payload: Ethernet, carrier, inner IPv6, UDP, BTH,
/// METH, TSETH, RETH, ICRC, frame check and the gap between frames.
inline constexpr Bytes kPacketOverhead{kAfterBthOffset + 4 + 4 + 16 + kIcrcBytes + kFcsBytes +
                                       kInterFrameBytes};

}  // namespace mrclab::endpoint
