#pragma once
// All MRC queue pairs of a host.

#include "endpoint/base/queue_pair_slots.h"
#include "endpoint/queue_pair/queue_pair.h"

namespace mrclab::endpoint {

using QueuePairTable = QueuePairSlots<QueuePair>;

}  // namespace mrclab::endpoint
