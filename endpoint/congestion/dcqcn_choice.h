#pragma once
// The parameters of DCQCN that a transport's option names, as published or for another fabric.
//
//   option           numbers of                        made for             rates x   timers x   bytes x
//   paper            Zhu et al., SIGCOMM 2015; htsim   40 Gb/s              r         s          r s
//   firmware         NVIDIA's defaults, ConnectX-6 Dx  100 Gb/s             r         s          r s
//   hpcc             the HPCC simulator                C Gb/s               r         s          -
//   aggressive       firmware, timer x 2 (our choice)  100 Gb/s             r         s          -
//   most_aggressive  firmware, timer x 8 (our choice)  100 Gb/s             r         s          -
//
// r is the port's rate over that rate and s the fabric's base RTT over 12 us, which is HPCC's fabric (our
// choice: a rate then comes back in as many round trips as it did where the numbers were made).

#include <optional>

#include "endpoint/base/transport_profile.h"
#include "endpoint/congestion/dcqcn.h"

namespace mrclab::endpoint {

/// What the numbers are for.
struct DcqcnPlace {
  BitRate line;         ///< rate of the NIC port that sends
  FabricTime base_rtt;  ///< round trip of the fabric's longest path, idle
};
/// Empty: the numbers as they were published.
using DcqcnScale = std::optional<DcqcnPlace>;

/// Empty: no rate limiter.
std::optional<DcqcnParameters> dcqcn_parameters(DcqcnChoice choice, DcqcnScale scale);
/// The least time between two CNPs of a queue pair: the paper's N = 50 us, and 4 us.
FabricTime cnp_interval_of(DcqcnChoice choice, DcqcnScale scale);

}  // namespace mrclab::endpoint
