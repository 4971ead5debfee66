#pragma once
// The keys of scenario files, what each may hold and what it means.

#include "fabric/text/value_form.h"

namespace mrclab::lab {

const ValueForm& scenario_form();

}  // namespace mrclab::lab
