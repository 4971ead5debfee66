#include "endpoint/transport_profile.h"

#include <stdexcept>

#include "endpoint/nscc_parameters.h"

namespace mrclab::endpoint {

TransportProfile make_profile(std::string_view name, const Topology& topology) {
  TransportProfile p;
  p.name = name;
  p.base_rtt = topology.base_rtt;
  p.pmtu = topology.pmtu;
  // One packet of reordering tolerance per unit of queue delay that congestion control accepts:
  // target_qdelay = 0.75 base RTT with trimming (UEC 1.0.3 p. 390).
  p.reorder_window = p.base_rtt + p.base_rtt * 3 / 4;
  p.skip_age_out = p.base_rtt * 2;
  p.tail_probe = p.reorder_window * 2;
  p.sack_threshold = topology.pmtu > 2048 ? 16384 : 4096;
  derive_nscc(p, topology);
  if (name == "lab") {
    p.ack_timeout = p.base_rtt * 8;
    p.probe_interval = p.base_rtt * 2;
    p.probe_interval_max = p.base_rtt * 32;
    p.damping_window = p.base_rtt * 500;
    p.port_status_interval = p.base_rtt * 4;
    return p;
  }
  if (name != "production") {
    throw std::invalid_argument("transport profile \"" + std::string(name) +
                                "\" is not known; there are lab and production");
  }
  // MRC API: local ACK timeout = 1.024 us x 2^n, the smallest that is at least 8 base RTT.
  p.ack_timeout = FabricTime::from_ns(1024);
  while (p.ack_timeout < p.base_rtt * 8) p.ack_timeout = p.ack_timeout * 2;
  p.exponential_retries = 25;
  p.probe_interval = FabricTime::from_ms(10);
  p.probe_interval_max = FabricTime::from_ms(1000);
  p.revive_successes = 5;
  p.revive_successes_max = 80;
  p.damping_window = FabricTime::from_ms(60'000);
  p.port_status_interval = FabricTime::from_ms(10);
  return p;
}

}  // namespace mrclab::endpoint
