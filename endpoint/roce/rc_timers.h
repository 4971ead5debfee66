#pragma once
// When the ACK timer of an RC queue pair runs out, by who makes the NIC. T is the local ACK timeout that software sets
// (ibv_qp_attr.timeout; NCCL 20: NCCL_IB_TIMEOUT); 0 means never.
//
//   timers              first                         then                          source
//   connectx            8.4 16.8 33.6 67 101 201 ms,  2 x 4.096 us x 2^max(T, 16):  a ConnectX-6 measured in public, 2026
//                       all of them one retry         537 ms, or 8.6 s with T = 20  (steps 8.6 16.6 33.7 67 101 201 ms;
//                                                                                   T = 20 and 7 retries: 59.8 s, here 60.6)
//   connectx_no_floor   4.096 us x 2^T                the same                      likewise, with the floor disabled and
//                                                                                   no adaptive phase
//   exact               4.096 us x 2^T                the same                      Linux rdma_rxe (InfiniBand 9.7.6.1.3)
//   compressed          rc_ack_timeout (32 base RTT)  by rc_timer: the same, or a   our choice, for scenarios that stand
//                                                     ConnectX's steps in eighths   for more time than they run
//
// Without a source that we could check: ConnectX-7 and -8, Thor, Pollara.

#include <cstdint>

#include "endpoint/base/transport_profile.h"
#include "fabric/base/units.h"

namespace mrclab::endpoint {

struct RcTimes {
  FabricTime adaptive_unit;  ///< the first six timeouts are multiples of it; zero: all are regular
  FabricTime regular;        ///< how long every other timeout is; never() without a timer

  /// After so many timeouts in a row.
  FabricTime after(uint32_t timeouts) const;
  FabricTime first() const { return after(0); }
  /// Timeouts in a row that are no more than `retries`; the next one fails the queue pair.
  uint32_t most(uint32_t retries) const;
  /// From the last progress to the failure.
  FabricTime until_failure(uint32_t retries) const;
};

/// As the profile has them.
RcTimes rc_times(const TransportProfile& profile);
/// The same with another T. Compressed timers have no rule for T: they then are 4.096 us x 2^T.
RcTimes rc_times(const TransportProfile& profile, uint32_t exponent);

}  // namespace mrclab::endpoint
