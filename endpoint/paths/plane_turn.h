#pragma once
// Which plane the next packet to a destination takes, over all its queue pairs.
//
// If each queue pair took its own turns, packets of several queue pairs would go to one plane in a row, and
// to the next plane a round later: as all senders go round alike, a sender that happens to be with the crowd
// would meet its queue in every round, and have less than its share for a hundred round trips.

#include <cstdint>
#include <optional>

namespace mrclab::endpoint {

struct PlaneTurn {
  std::optional<uint32_t> next;  ///< empty before the first packet
};

}  // namespace mrclab::endpoint
