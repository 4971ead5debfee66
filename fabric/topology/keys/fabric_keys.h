#pragma once
// The keys of fabric files, a row for each: what it may hold, what it means, how it is read and written.

#include "fabric/text/key_table.h"
#include "fabric/topology/fabric_shape.h"

namespace mrclab {

/// All keys. Those of regular planes and those of listed switches have no reader here: a file has one of the two.
const KeyTable<FabricShape>& fabric_keys();
/// A map with all keys.
const ValueForm& fabric_form();

/// `watchdog:` of switches, which a contrast may replace.
const KeyRow<LosslessProfile>& watchdog_key();

/// The keys of parts that belong together (shared_fate_keys.cc).
KeyRow<FabricShape> optics_row();
KeyRow<FabricShape> line_cards_row();
KeyRow<FabricShape> power_zones_row();
KeyRow<FabricShape> tenants_row();
KeyRow<FabricShape> authorise_row();
KeyRow<FabricShape> miscabled_row();

}  // namespace mrclab
