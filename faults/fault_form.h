#pragma once
// What entries of `faults:` may hold, made from the table of kinds.

#include "fabric/text/value_form.h"

namespace mrclab::faults {

/// The form of the list that a scenario has behind `faults:`.
ValueForm faults_form();

}  // namespace mrclab::faults
