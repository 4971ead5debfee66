#pragma once
// The keys of verdict.json (verdict.h writes it), what each holds and what it means.

#include "fabric/text/value_form.h"

namespace mrclab::analysis {

const ValueForm& verdict_form();

}  // namespace mrclab::analysis
