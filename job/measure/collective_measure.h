#pragma once
// Collectives of a job, equal ones together: their times and the bandwidths that nccl-tests derives from them.

#include <string>
#include <vector>

#include "job/measure/op_spans.h"
#include "job/measure/time_spread.h"

namespace mrclab::job {

struct CollectiveMeasure {
  Collective collective = Collective::kAllReduce;
  std::string group;  ///< "dp"
  uint32_t ranks = 0;
  uint64_t bytes = 0;  ///< as nccl-tests counts them (graph/op_graph.h)
  uint64_t count = 0, finished = 0;
  /// From when all ranks had begun to the end in the last: how late a rank came is not the network's time.
  TimeSpread time;
  BitRate busbw_p50, busbw_p99;  ///< at those times: 99 % of the collectives reach busbw_p99
};

/// The traffic of a collective's bottleneck link by its size: all_reduce 2(n - 1)/n, reduce_scatter, all_gather and
/// all_to_all (n - 1)/n, broadcast 1 (nccl-tests, doc/PERFORMANCE.md); barrier 0.
BitRate bus_bandwidth(Collective collective, uint32_t ranks, uint64_t bytes, FabricTime time);

/// The most bytes together first; equal ones by group, kind, ranks and size.
std::vector<CollectiveMeasure> measure_collectives(const PlannedJob& plan, const OpSpans& spans);

}  // namespace mrclab::job
