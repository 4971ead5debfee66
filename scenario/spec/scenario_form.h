#pragma once
// The keys of scenario files, what each may hold and what it means.

#include "fabric/text/value_form.h"

namespace mrclab::lab {

const ValueForm& scenario_form();
/// The forms of an `exec:` entry of a workload and of a `program:` entry of the expectations.
const ValueForm& exec_form();
const ValueForm& check_program_form();

}  // namespace mrclab::lab
