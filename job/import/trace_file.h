#pragma once
// Jobs from files of others: reads them and finds out which format they have.

#include <filesystem>
#include <string>

#include "job/import/trace.h"
#include "job/import/trace_bytes.h"

namespace mrclab::job {

/// The job in `path`: a file, for Chakra the prefix of PREFIX.0.et, PREFIX.1.et ..., or a folder of what profilers left of
/// each rank (measured_folder.h). The graph is checked (graph_check.h). Throws InputError.
Trace read_trace(const std::filesystem::path& path, const TraceOptions& options);

}  // namespace mrclab::job
