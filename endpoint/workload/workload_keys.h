#pragma once
// The keys of every kind of workload, each in one row: what it may hold, what it means, how it is read and written.

#include "endpoint/workload/workload_spec.h"
#include "fabric/text/value_form.h"
#include "fabric/topology/pattern.h"

namespace mrclab::endpoint {

/// Size of a collective that has its vectors in memory: one without slots.
inline constexpr Bytes kMaxReduceBytes{256u << 20};

/// What the body of such a workload may hold.
ValueForm keys_form(const WorkloadSpec& spec);
/// Reads the keys of a body that has this form. Throws InputError with the position.
void read_keys(const YamlValue& body, WorkloadSpec& spec, NameResolver& names);
/// The body as a file has it: "{hosts: [h0, h1], size: 8MiB, until: end}".
std::string keys_text(const WorkloadSpec& spec);

/// "h3"
std::string host_text(uint32_t number);

}  // namespace mrclab::endpoint
