#pragma once
// The key `mapper` of fabrics and scenarios.

#include "fabric/mapper/mapper_profile.h"
#include "fabric/text/key_table.h"

namespace mrclab {

const KeyRow<MapperProfile>& mapper_key();

}  // namespace mrclab
