#pragma once
// Who waits for whom at an instant, by the packets of a recording (analysis/incident/host_waits.h).

#include <vector>

#include "analysis/incident/host_waits.h"
#include "session/recording/recording.h"

namespace mrclab::lab {

/// Fabric time before and behind the instant whose packets are looked at (our choice): a timeout and its answer.
inline constexpr FabricTime kWaitsSpan = FabricTime::from_us(200);

/// Packets that one answer looks at, of that span those nearest to the instant.
inline constexpr size_t kMaxPacketsLooked = 500'000;

/// The answer for every host, by number. Packets before `from` and behind `until` were not looked at: they are those of
/// kWaitsSpan that the recording has.
struct WaitsSeen {
  FabricTime from, until;
  std::vector<analysis::HostWait> hosts;
};
WaitsSeen waits_at(const Topology& topology, const Recording& recording, FabricTime t);

}  // namespace mrclab::lab
