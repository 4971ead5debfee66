#pragma once
// The numbers of one RC queue pair.

#include <cstdint>
#include <optional>

#include "endpoint/base/transport_profile.h"
#include "endpoint/congestion/dcqcn.h"
#include "endpoint/roce/rc_timers.h"
#include "fabric/base/units.h"

namespace mrclab::endpoint {

/// So many retries after "receiver not ready" stand for no limit (ibverbs: rnr_retry; NCCL sets it).
inline constexpr uint32_t kRnrForEver = 7;
/// So many PSNs from the missing one on a selective receiver keeps (htsim: 64).
inline constexpr uint32_t kRcMostAhead = 64;

struct RcParameters {
  uint32_t pmtu = 4096;
  RcRecovery recovery = RcRecovery::kGoBackN;
  /// PSNs that a selective receiver takes beyond a gap before it asks for what is missing; 0: it asks at
  /// once.
  uint32_t reorder = 0;
  uint32_t window = 128;    ///< PSNs in flight (ConnectX-6 Dx: 2^7; our choice: at least two BDPs)
  uint32_t ack_every = 16;  ///< every so many packets ask for an acknowledgement, and each last one
  RcTimes times;
  uint32_t retries = 7;  ///< timeouts in a row without progress, then the queue pair fails
  uint32_t rnr_retries = kRnrForEver;  ///< "receiver not ready" in a row, then it fails
  uint8_t rnr_code = 1;                ///< our "receiver not ready" asks for its time (rnr_time.h)
  bool waits_for_receives =
      true;             ///< false: a message without a receive ends the queue pair, as MRC's do
  uint32_t reads = 16;  ///< READs and atomics under way that it sends
  uint32_t reads_taken = 16;  ///< the same that it answers at once (responder resources)
  BitRate line;               ///< of its port
  std::optional<DcqcnParameters> dcqcn;
  FabricTime cnp_interval;  ///< of the notification point
};

}  // namespace mrclab::endpoint
