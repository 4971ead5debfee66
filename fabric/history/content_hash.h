#pragma once
// A packet's content: hosts, BTH and EV, which no switch changes (history.h).

#include <cstdint>

#include "fabric/packet/frame.h"

namespace mrclab {

/// The hash of the frame's content. Where the content stays on the whole way it is left with the frame, so that the next
/// port that asks finds it there. `frame` may be empty.
uint64_t content_hash(const Frame& frame);

}  // namespace mrclab
