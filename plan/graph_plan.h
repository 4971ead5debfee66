#pragma once
// The plan of any fabric. Regular planes are arithmetic; of three tiers, and of switches, hosts and links one by one, what is
// there is counted in the graph.

#include "plan/fabric_plan.h"

namespace mrclab::lab {

/// Throws InputError if the links of a switch have more than `capacity`.
FabricPlan plan_any_fabric(const FabricShape& shape, BitRate capacity = kSwitchCapacity);

}  // namespace mrclab::lab
