#pragma once
// The lines that NCCL's Inspector writes (ext-profiler/inspector of NCCL, formats v4.0 to v4.2), of one process or of
// several behind each other.
//
//   {"header": {"id": "0x7f8c", "rank": 2, "n_ranks": 8}, "metadata": {"hostname": "n0", "pid": 17, ...},
//    "coll_perf": {"coll": "AllReduce", "coll_sn": 7, "coll_msg_size_bytes": 4096, "coll_exec_time_us": 12, ...}}
//
// A process is a rank of the job: its number is the one in the largest communicator. When an exchange began is known from
// files of NCCL_INSPECTOR_DUMP_VERBOSE=1 alone (event_trace_ts); without it their order counts. Of all_gather and
// reduce_scatter the size is a rank's part: AlgoBW is size x n_ranks / time there.

#include <string>
#include <string_view>

#include "job/import/measured_job.h"

namespace mrclab::job {

/// The ranks in order. Throws InputError, which begins with `name`:line, also for a communicator of which some ranks
/// have no line.
std::vector<MeasuredRank> read_inspector(std::string_view text, const std::string& name);

}  // namespace mrclab::job
