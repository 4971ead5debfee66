#pragma once
// Kinds of values of a `job:` entry that are maps of their own.

#include <optional>
#include <string>
#include <vector>

#include "fabric/text/key_table.h"
#include "job/plan/job_spec.h"

namespace mrclab::job {

/// How one of them is read and written; a value that is left out is written as an empty text.
template <class Part>
using PartKind = ValueKind<Part (*)(const YamlValue&), std::string (*)(const Part&)>;

PartKind<std::optional<NodeSpec>> nodes_kind();
PartKind<CollectiveChoice> collective_kind();
PartKind<std::vector<SlowRank>> slow_kind();
PartKind<std::optional<TraceSpec>> trace_kind();
PartKind<std::optional<ModelSpec>> model_kind();
PartKind<std::optional<OnError>> on_error_kind();

}  // namespace mrclab::job
