#pragma once
// What entries of `faults:` may hold, made from the table of kinds.

#include "fabric/value_form.h"

namespace mrclab::faults {

/// Of a scenario's `faults:`.
ValueForm faults_form();

}  // namespace mrclab::faults
