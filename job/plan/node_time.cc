#include "job/plan/node_time.h"

#include <bit>

namespace mrclab::job {

FabricTime time_in_node(const NodeSpec& node, Collective collective, uint64_t bytes,
                        uint32_t ranks) {
  const uint64_t others = ranks - 1;
  uint64_t rounds = others, sent = bytes * others / ranks;
  switch (collective) {
    case Collective::kAllReduce:
      rounds *= 2;
      sent *= 2;
      break;
    case Collective::kReduceScatter:
    case Collective::kAllGather: break;
    case Collective::kAllToAll: rounds = 1; break;
    case Collective::kBroadcast: sent = bytes; break;
    case Collective::kBarrier: rounds = static_cast<uint64_t>(std::bit_width(others)); break;
  }
  return node.latency * static_cast<int64_t>(rounds) + serialization_time({sent}, node.rate);
}

}  // namespace mrclab::job
