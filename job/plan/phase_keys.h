#pragma once
// The phases of a job in a file, a row for each key.

#include <string>
#include <vector>

#include "fabric/text/value_form.h"
#include "job/plan/job_spec.h"

namespace mrclab::job {

/// A list of maps with one key, the phase's name.
ValueForm phases_form();
/// Throws InputError with the position; that the phases that it names exist is checked by phase_order.h.
std::vector<Phase> read_phases(const YamlValue& list);
/// "[{forward: {compute: 400us}}, ...]"; empty of none.
std::string phases_text(const std::vector<Phase>& phases);

}  // namespace mrclab::job
