#pragma once
// The part of a fabric file that numbers regular planes.

#include "fabric/text/key_table.h"
#include "fabric/topology/fabric_shape.h"

namespace mrclab {

/// `planes`, `t0`, `t1`, `hosts_per_t0` and `address_plan`.
const KeyTable<FabricShape>& regular_keys();

/// Reads them into `shape`. Throws InputError with the position, also for more than `max_nodes`.
void read_regular(const YamlValue& file, uint64_t max_nodes, FabricShape& shape);

}  // namespace mrclab
