#pragma once
// The keys of a fabric that say what fails together: transceivers, line cards, power zones.

#include "fabric/text/key_table.h"
#include "fabric/topology/fabric_shape.h"

namespace mrclab {

KeyRow<FabricShape> optics_row();
KeyRow<FabricShape> line_cards_row();
KeyRow<FabricShape> power_zones_row();

}  // namespace mrclab
