#pragma once
// The keys of `jobs` in verdict.json (analysis/verdict/job_text.h writes them).

#include "fabric/text/value_form.h"

namespace mrclab::analysis {

/// Of one job.
ValueForm job_form();

}  // namespace mrclab::analysis
