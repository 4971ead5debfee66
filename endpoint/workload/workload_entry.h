#pragma once
// Reads the `workload:` list of a scenario file (workload_spec.h has its form).

#include <vector>

#include "endpoint/workload/workload_spec.h"
#include "fabric/text/value_form.h"
#include "fabric/text/yaml.h"
#include "fabric/topology/pattern.h"

namespace mrclab::endpoint {

/// The kinds of workload, each a key with the form of its body, in the order in which messages list them.
const std::vector<ValueForm::Key>& workload_kinds();

/// Reads one entry, for a reader who has entries of its own among them; writes of several hosts are one for each pair.
/// Throws InputError with the position.
std::vector<WorkloadSpec> parse_workload(const YamlValue& entry, NameResolver& names);

/// Reads the whole list. Throws InputError with the position.
std::vector<WorkloadSpec> parse_workloads(const YamlValue& list, NameResolver& names);

}  // namespace mrclab::endpoint
