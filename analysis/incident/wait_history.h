#pragma once
// Who waited for whom in a whole run: host_waits.h over a packet history, asked twice in each base RTT.

#include <span>
#include <string>
#include <vector>

#include "analysis/history/packet_history.h"
#include "analysis/incident/host_waits.h"

namespace mrclab::analysis {

/// A stretch of time in which a host received next to nothing, for one reason.
struct WaitSpan {
  FabricTime from, until;  ///< first and last instant at which it was so
  HostWait wait;           ///< as it was at `from`
};

inline constexpr int64_t kMaxWaitSamples = 400;
inline constexpr size_t kMaxWaitSpans = 400;

/// Is it more than the usual wait for a turn, for work or for what is under way: for packets that did not arrive at once, or
/// in a circle?
bool is_stalled(const Topology& topology, const HostWait& wait, FabricTime t);

/// The packets of a history, as they are waited for.
std::vector<AwaitedPacket> awaited_packets(const PacketHistory& history);

/// When hosts were stalled, in order of time. At most kMaxWaitSpans.
std::vector<WaitSpan> wait_spans(const Topology& topology, const PacketHistory& history,
                                 FabricTime end);

/// Lines of a story: those that wait at the same time for packets of the same stream are one.
struct WaitLine {
  FabricTime t;
  std::string text;
};
std::vector<WaitLine> wait_lines(const Topology& topology, std::span<const WaitSpan> spans);

}  // namespace mrclab::analysis
