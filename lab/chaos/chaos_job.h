#pragma once
// A small job out of a seed, among the workloads of chaos ("octet+job"). Its draws have a stream of their own, so that
// seeds without jobs keep what they draw.

#include <cstdint>
#include <string_view>

#include "endpoint/workload/workload_spec.h"
#include "fabric/topology/topology.h"

namespace mrclab::lab {

/// Behind the name of a fabric: its seeds have a job each.
inline constexpr std::string_view kWithJob = "+job";

struct DrawnJob {
  endpoint::JobWorkload work;  ///< with its plan
  FabricTime ideal;            ///< of the whole job, without loss or queues
  bool alone = false;          ///< nothing else is sent beside it
};

/// Ranks, groups, phases, sizes and computing by the seed; so many steps, of no more packets than kJobPackets, and so much
/// computing that on an ideal network it goes on until `until`, counted from its start.
DrawnJob draw_job(uint64_t seed, const Topology& topology, FabricTime until);
inline constexpr uint64_t kJobPackets = 40'000;
inline constexpr uint32_t kMaxJobRanks = 8,
                          kMaxJobSteps = 32;  ///< our choice, as chaos is to be fast

}  // namespace mrclab::lab
