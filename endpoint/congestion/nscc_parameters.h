#pragma once
// The constants of NSCC. Derived from the rate of a host's ports and the base RTT as UEC does it
// (UE specification 1.0.3 p. 390-397; the same numbers in the UEC's htsim); each may be given as a
// transport option instead, as in the MRC API's NSCC struct.
//
//   reference network: 100 Gb/s x 12 us, BDP_ref = 150,000 bytes
//   BDP = ports x port rate x base RTT     a = BDP / BDP_ref     b = T / 12 us
//
// All integers: what the window does must be the same on every machine.

#include <cstdint>

#include "endpoint/base/transport_profile.h"
#include "fabric/base/units.h"
#include "fabric/topology/topology.h"

namespace mrclab::endpoint {

/// Sets the profile's nscc_... values for all ports of a host:
///   base_rtt      the topology's, rounded up to 128 ns, the unit of the timestamps
///   target_delay  T: 0.75 base RTT where switches trim, else 1.0
///   max_cwnd      1.5 BDP         fi  5 x MSS x a          eta  0.15 x MSS x a
///   pi            alpha x T = 4 x MSS x a x b              fi_scale  0.25 x a
///   clear_delay   base RTT / 12: htsim's 1 us at its base RTT of 12 us (our choice: it scales)
///   adjust_bytes  8 MTU           adjust_period  base RTT
///   qa_threshold  4 T (htsim); where switches trim 100 base RTTs, which is never: trims are the signal (UEC)
/// `profile` has base RTT and PMTU already. Rates beyond what 32 bits of bytes hold are cut there.
void derive_nscc(TransportProfile& profile, const Topology& topology);

/// The constants as the arithmetic needs them, for the ports that are live.
struct NsccParameters {
  Bytes mtu;  ///< nominal size of a packet of PMTU; the smallest window
  Bytes fi;   ///< fair increase per RTT
  Bytes eta;
  Bytes pi;                        ///< proportional increase per RTT without queue delay
  uint64_t fi_scale_permille = 0;  ///< fast increase per 1,000 bytes that arrive
  Bytes max_window;                ///< at the configured base RTT; at least one MTU
};

/// The constants for `live_ports` of profile.ports.
NsccParameters nscc_parameters(const TransportProfile& profile, uint32_t live_ports);

}  // namespace mrclab::endpoint
