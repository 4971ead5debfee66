#pragma once
// nccl-tests' figures and its output format (2.17: src/util.cu), out of what the hosts of a collective measured. Times
// are fabric time; a GB is 10^9 bytes. Both halves of the table are of one run: where results lie costs nothing here.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
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

/// A type of NCCL's: the column's word and what counts are of. Data are words of 32 bits in any case, whose sums are exact
/// in any order.
struct ElementType {
  std::string_view name;
  uint64_t bytes;
};
std::span<const ElementType> element_types();
/// Elements in the table for a size, as nccl-tests counts them.
uint64_t elements_of(endpoint::CollectiveKind kind, uint64_t bytes, size_t hosts,
                     uint64_t element_bytes = 4);

/// Of the hosts' times nccl-tests shows one (-a): the first host's, their mean, the shortest or the longest.
enum class HostTime : uint8_t { kFirst, kMean, kShortest, kLongest };

/// `work` has a report of every host with at least warmup + 1 iterations. A host's time is from the
/// end of its warm-up (or its first begin) to its last iteration's end, over the iterations.
CollectiveRow collective_row(endpoint::CollectiveKind kind, uint64_t bytes,
                             const std::vector<endpoint::WorkReport>& work, uint32_t warmup,
                             uint64_t wrong_bytes, HostTime which = HostTime::kMean);

std::string nccl_heading();
/// `checked`: else #wrong is N/A.
std::string nccl_row(endpoint::CollectiveKind kind, const CollectiveRow& row, bool checked,
                     std::string_view type = "float");
std::string nccl_footer(const std::vector<CollectiveRow>& rows);
/// The mean of busbw over the rows.
double average_busbw(const std::vector<CollectiveRow>& rows);
/// The row with the names of nccl-tests' JSON output.
nlohmann::ordered_json nccl_json(endpoint::CollectiveKind kind, const CollectiveRow& row,
                                 bool checked, std::string_view type = "float");

}  // namespace mrclab::lab
