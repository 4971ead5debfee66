#pragma once
// The keys of fabric files, what each may hold and what it means.

#include "fabric/text/value_form.h"

namespace mrclab {

const ValueForm& fabric_form();
/// A duration, or `off`; of `roce: {watchdog: ...}` and of a scenario's contrasts.
ValueForm watchdog_form();

}  // namespace mrclab
