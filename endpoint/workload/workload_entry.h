#pragma once
// One entry of a `workload:` list, for a reader who has entries of its own among them.

#include "endpoint/workload/workload_spec.h"

namespace mrclab::endpoint {

/// Reads one entry of a `workload:` list. Throws InputError with the position.
WorkloadSpec parse_workload(const YamlValue& entry, NameResolver& names);

}  // namespace mrclab::endpoint
