#pragma once
// Execution traces of MLCommons Chakra (schema 1.0.0): PREFIX.0.et, PREFIX.1.et ..., one a rank, each a stream of messages
// with their lengths, or the same as gzip. The first is the file's metadata, every other an operation.
//
//   COMP, MEM_LOAD, MEM_STORE   compute for duration_micros; what a CPU does is a lane of its own
//   COMM_SEND, COMM_RECV        comm_size bytes to comm_dst, or from comm_src, with comm_tag
//   COMM_COLL                   comm_type over pg_name; of all_gather comm_size is one rank's part
//   METADATA                    may name groups
//
// data_deps list what an operation waits for; ctrl_deps are callers, which the tools that write these files turn into
// data_deps where they matter, so they are left alone, as ASTRA-sim does.

#include <filesystem>
#include <string>
#include <vector>

#include "job/import/trace.h"

namespace mrclab::job {

/// The files of a prefix in the order of their ranks; empty if PREFIX.0.et is missing.
std::vector<std::filesystem::path> chakra_files(const std::filesystem::path& prefix);

/// One unpacked file a rank; `names` stand in messages. Throws InputError.
Trace read_chakra(const std::vector<std::string>& files, const std::vector<std::string>& names,
                  const TraceOptions& options);

}  // namespace mrclab::job
