#pragma once
// Kinds of values of a `job:` entry that are maps of their own.

#include <optional>
#include <string>
#include <vector>

#include "fabric/text/key_table.h"
#include "fabric/topology/pattern.h"
#include "job/plan/job_spec.h"

namespace mrclab::job {

/// How one of them is read and written; a value that is left out is written as an empty text.
template <class Part>
using PartKind = ValueKind<Part (*)(const YamlValue&), std::string (*)(const Part&)>;

PartKind<std::optional<NodeSpec>> nodes_kind();
PartKind<std::optional<LocalCopy>> local_kind();
PartKind<CollectiveChoice> collective_kind();
PartKind<std::vector<SlowRank>> slow_kind();
PartKind<std::optional<TraceSpec>> trace_kind();
PartKind<std::optional<ModelSpec>> model_kind();

// `checkpoint` and `on_error` (on_error_keys.cc), whose hosts have names.
KeyRow<JobSpec, NameResolver> checkpoint_row();
KeyRow<JobSpec, NameResolver> on_error_row();
/// Throws InputError where they do not fit the job, or each other. `body` is the job's entry.
void check_on_error(const YamlValue& body, const JobSpec& spec);

}  // namespace mrclab::job
