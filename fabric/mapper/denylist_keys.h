#pragma once
// The key `denylist` of fabrics and scenarios.

#include "fabric/mapper/denylist_policy.h"
#include "fabric/text/key_table.h"

namespace mrclab {

const KeyRow<DenylistPolicy>& denylist_key();

}  // namespace mrclab
