#pragma once
// The keys of a service in verdict.json (analysis/serve/serve_text.h writes them).

#include "fabric/text/value_form.h"

namespace mrclab::analysis {

/// Of `serve` of a job.
ValueForm serve_form();

}  // namespace mrclab::analysis
