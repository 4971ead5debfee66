#pragma once
// What `exec:` and `program:` entries may hold.

#include "fabric/text/value_form.h"

namespace mrclab::lab {

/// The forms of an `exec:` entry of a workload and of a `program:` entry of the expectations.
const ValueForm& exec_form();
const ValueForm& check_program_form();

}  // namespace mrclab::lab
