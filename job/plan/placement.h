#pragma once
// Which of a job's hosts gets which rank.

#include <cstdint>
#include <vector>

#include "fabric/topology/topology.h"

namespace mrclab::job {

enum class Placement : uint8_t {
  kPacked,  ///< as the hosts are listed
  kSpread,  ///< one host below each T0 in turn
  kRails,   ///< node by node, its NICs by their rails (GPU i of every node on rail i)
};

/// The hosts in the order of ranks. Within a T0, or a node, they keep their order.
std::vector<uint32_t> placed(std::vector<uint32_t> hosts, Placement how, const Topology& topology);

}  // namespace mrclab::job
