#pragma once
// nccl-tests' figures and its output format, out of what the hosts of a collective measured. Times
// are fabric time; a GB is 10^9 bytes. There is one half of the table: results are out of place.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "endpoint/base/work_report.h"
#include "endpoint/workload/workload_spec.h"

namespace mrclab::lab {

struct CollectiveRow {
  uint64_t bytes = 0;
  uint64_t count = 0;  ///< elements: of all_gather, reduce_scatter and all_to_all those per host
  double time_us = 0;  ///< per iteration, mean over the hosts
  double algbw = 0;    ///< GB/s: bytes / time
  double busbw = 0;    ///< GB/s: algbw x bus_factor
  uint64_t wrong = 0;  ///< elements, over all hosts and iterations, warm-up too
};

/// nccl-tests, doc/PERFORMANCE.md: what relates bytes / time to the rate of a host's links.
double bus_factor(endpoint::CollectiveKind kind, size_t hosts);

/// Elements in the table for a size, as nccl-tests counts them.
uint64_t elements_of(endpoint::CollectiveKind kind, uint64_t bytes, size_t hosts);

/// `work` has a report of every host with at least warmup + 1 iterations. A host's time is from the
/// end of its warm-up (or its first begin) to its last iteration's end, over the iterations.
CollectiveRow collective_row(endpoint::CollectiveKind kind, uint64_t bytes,
                             const std::vector<endpoint::WorkReport>& work, uint32_t warmup,
                             uint64_t wrong_bytes);

std::string nccl_heading();
/// `checked`: else #wrong is N/A.
std::string nccl_row(endpoint::CollectiveKind kind, const CollectiveRow& row, bool checked);
std::string nccl_footer(const std::vector<CollectiveRow>& rows);
/// The mean of busbw over the rows.
double average_busbw(const std::vector<CollectiveRow>& rows);
/// The row with the names of nccl-tests' JSON output.
nlohmann::ordered_json nccl_json(endpoint::CollectiveKind kind, const CollectiveRow& row,
                                 bool checked);

}  // namespace mrclab::lab
