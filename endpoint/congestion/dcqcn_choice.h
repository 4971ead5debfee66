#pragma once
// The parameters of DCQCN that a transport's option names, as published or for another fabric.
//
//   option           numbers of                        made for             rates x   timers x   bytes x   CNPs each
//   paper            Zhu et al., SIGCOMM 2015; htsim   40 Gb/s              r         s          r s       queue pair
//   firmware         NVIDIA's defaults, ConnectX-6 Dx  100 Gb/s             r         s          r s       port
//   hpcc             the HPCC simulator (run.py 99-104) C Gb/s              r         s          -         queue pair
//   aggressive       firmware, timer x 2 (our choice)  100 Gb/s             r         s          -         port
//   most_aggressive  firmware, timer x 8 (our choice)  100 Gb/s             r         s          -         port
//
// The least interval of CNPs counts among those of a queue pair by the paper (section 3.1: "for a given flow"), and those
// "from the port" by NVIDIA (MIN_TIME_BETWEEN_CNPS: "minimum time between sending cnps from the port, in microseconds",
// mstflint and the DCQCN page). HPCC's simulator sends none: each ACK carries the mark of its queue pair. Its tuning brings
// its switches along (fabric/asic: red_profile.h, switch_buffer.h) where neither the fabric nor an option names others.
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
/// Those of the profile, single numbers in their place.
std::optional<DcqcnParameters> dcqcn_parameters(const TransportProfile& profile,
                                                const DcqcnPlace& place);
/// Among which CNPs that interval counts.
CnpScope cnp_scope_of(DcqcnChoice choice);
/// The least time between two CNPs: the paper's N = 50 us, and 4 us.
FabricTime cnp_interval_of(DcqcnChoice choice, DcqcnScale scale);

}  // namespace mrclab::endpoint
