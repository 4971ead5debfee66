#pragma once
// What PyTorch leaves of a run, as JSON, one file a rank.
//
//   execution trace   {"schema": "1.1.0-chakra.0.0.4", "nodes": [...]}: its nodes "record_param_comms" are exchanges with
//                     their element counts (from schema 1.0.3 on), "## process_group:init ##" names the groups. It has
//                     no times: a collective that a "wait" names ends there, any other before the next
//   Kineto            {"traceEvents": [...], "distributedInfo": {...}}: kernels with their times; those of NCCL carry
//                     "Collective name", "In msg nelems", "Out msg nelems", "dtype" and the group. In the time of one the
//                     waiting for the slowest rank is contained
//
// Sizes are elements times the size of their type; all_gather counts what comes out, all others what goes in.

#include <string>
#include <string_view>

#include "job/import/measured_job.h"

namespace mrclab::job {

/// A file of one rank. Both throw InputError, which begins with `name` and has the node or event.
MeasuredRank read_pytorch_et(std::string_view text, const std::string& name);
MeasuredRank read_kineto(std::string_view text, const std::string& name);

/// The rank in a Kineto file's "distributedInfo"; empty without it.
std::optional<uint32_t> kineto_rank(std::string_view text, const std::string& name);

}  // namespace mrclab::job
