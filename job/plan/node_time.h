#pragma once
// Collectives within a node, over its own links: they take time and make no packets.

#include "job/plan/job_spec.h"

namespace mrclab::job {

/// Of a ring (or of one round, for all_to_all) of `ranks` ranks: rounds that wait for each other times the latency, and
/// the bytes that a rank sends at its rate. `bytes` as in ExchangeWork.
FabricTime time_in_node(const NodeSpec& node, Collective collective, uint64_t bytes,
                        uint32_t ranks);

}  // namespace mrclab::job
