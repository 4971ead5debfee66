#pragma once
// Collectives of a run as NCCL's Inspector writes them (JSON lines, format v4.0: ext-profiler/inspector of NCCL), so that
// exporters and pages made for it show a run of the lab.
//
//   {"header":{"id":"0x..","comm_name":"dp","rank":0,"n_ranks":8,"nnodes":8},"metadata":{..},"coll_perf":{"coll":
//    "AllReduce","coll_sn":1,"coll_msg_size_bytes":65536,"coll_exec_time_us":12.5,..,"event_trace_ts":{..}}}
//
// A line for each rank and collective that ended, in the order of the job. The size is what Inspector means by it: of
// all_gather and reduce_scatter a rank's part of the vector, which its bandwidths multiply by the ranks. Times are those of
// the rank, waiting for others included, in microseconds of fabric time with fractions (Inspector has whole ones, and
// jobs here run scaled down).

#include <cstdint>
#include <iosfwd>

#include "job/measure/op_spans.h"

namespace mrclab::job {

inline constexpr uint64_t kMaxInspectorBytes = uint64_t{512} << 20;

/// How many lines did not fit into `most_bytes`; those before are whole. Barriers, and what never ended, have no line.
uint64_t write_inspector_lines(const PlannedJob& plan, const OpSpans& spans, std::ostream& out,
                               uint64_t most_bytes = kMaxInspectorBytes);

/// "AllReduce": NCCL's word; empty for a barrier, which NCCL has not.
std::string_view nccl_name_of(Collective collective);

}  // namespace mrclab::job
