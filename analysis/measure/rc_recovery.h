#pragma once
// Retransmissions of RC flows: captures show each round, and the answer before it shows its cause.
//
// A round begins with a packet that was sent before and is no later in order than the one sent last: the sender has
// gone back. (With selective repeat a round is the packets that are retransmitted, mostly one.) Its cause is the NAK, or the
// "receiver not ready", that named this packet since the round before; without one the sender's timer ran out.

#include <array>
#include <string_view>
#include <vector>

#include "analysis/history/packet_history.h"

namespace mrclab::analysis {

enum class RcCause : uint8_t { kNak, kNotReady, kTimeout };
inline constexpr size_t kRcCauses = 3;
std::string_view name_of(RcCause cause);  ///< "NAK", "not ready", "timeout"

struct RcRecovery {
  uint32_t flow = 0;     ///< index into PacketHistory::flows()
  uint64_t packets = 0;  ///< first transmissions
  std::array<uint64_t, kRcCauses> rounds{},
      resent{};                                ///< by cause; resent: packets in those rounds
  uint64_t naks = 0, not_ready = 0, cnps = 0;  ///< that arrived at the sender
};

/// All flows of RC, in the order of the history.
std::vector<RcRecovery> rc_recoveries(const PacketHistory& history);

}  // namespace mrclab::analysis
