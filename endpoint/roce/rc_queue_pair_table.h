#pragma once
// All RC queue pairs of a host.

#include "endpoint/base/queue_pair_slots.h"
#include "endpoint/roce/rc_queue_pair.h"

namespace mrclab::endpoint {

using RcQueuePairTable = QueuePairSlots<RcQueuePair>;

}  // namespace mrclab::endpoint
