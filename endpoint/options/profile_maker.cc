#include "endpoint/options/profile_maker.h"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "endpoint/base/connection_attributes.h"
#include "endpoint/congestion/dcqcn_choice.h"
#include "endpoint/congestion/nscc_parameters.h"

namespace mrclab::endpoint {

namespace {

constexpr uint64_t kLargestReceiveBuffer = 1'000'000'000;
/// After 7 timeouts of 262 us, 13 that double end after 4.3 s in all. Our choice between two observations of the MRC
/// paper: no queue pair failed in gaps of up to 1.6 s (figure 9a), and all did when a NIC's own transceiver flapped
/// (section 5.1), as those of figure 6 did for some eight seconds. The API's 25 would wait for ever.
constexpr uint32_t kProductionDoublings = 13;

/// How much longer a packet can be under way than on an idle path: every queue on it is as full as
/// the switches let it become, and trimmed frames have half of the last link.
FabricTime worst_queue_delay(const Topology& topology) {
  const QueueProfile& last = topology.queues;
  const QueueProfile& inside = topology.fabric_queues;
  const auto is_host = [&](PortRef end) { return topology.node(end.node).role == NodeRole::kHost; };
  std::optional<BitRate> slowest;  // between switches
  for (const Link& link : topology.links) {
    if (slowest && link.rate >= *slowest) continue;
    if (!is_host(link.a) && !is_host(link.b)) slowest = link.rate;
  }
  const Bytes inside_full = inside.trim ? inside.trim_threshold : inside.tail_drop;
  const FabricTime hop = slowest ? serialization_time(inside_full, *slowest) : FabricTime::zero();
  const Bytes full = last.trim ? last.trim_threshold_last_hop : last.tail_drop;
  const int64_t slower = last.trim ? 2 : 1;
  return serialization_time(full, topology.host_rate) * slower + hop * (topology.longest_path - 1);
}

/// Our choice: a lost packet is detected and retransmitted within three round trips, and until then the
/// sender goes on at line rate. In units, and no more of them than eight bits hold (MRC specification: MPR).
uint32_t psn_range_for(const Topology& topology) {
  const BitRate line{topology.host_rate.bps * topology.planes};
  const uint64_t packets = bytes_in(line, topology.base_rtt).value * 3 / topology.pmtu;
  const uint64_t units = std::min<uint64_t>(packets / kMprUnit + 1, kMaxMprUnits);
  return std::max(kDefaultPsnRange, static_cast<uint32_t>(units) * kMprUnit);
}

/// Timers of products. A value without a source is our choice, and is marked as such.
void make_production(TransportProfile& p) {
  // MRC API: local ACK timeout = 1.024 us x 2^n; its examples have n = 8. Longer where 8 base RTT are (our choice).
  p.ack_timeout = FabricTime::from_ns(1024) * 256;
  while (p.ack_timeout < p.base_rtt * 8) p.ack_timeout = p.ack_timeout * 2;
  p.linear_retries = 7;  // MRC API: at most, and in its examples
  p.exponential_retries = kProductionDoublings;
  // The MRC paper (section 2.1) has probes in the background, "enough" of which bring a path back: how many, and how
  // far apart, no source has. Our choice; five in a row are those of the public SRv6 AI fabric's agent.
  p.probe_interval = FabricTime::from_ms(10);
  p.probe_interval_max = FabricTime::from_ms(1000);
  p.revive_successes = 5;
  // A path that flaps is used again "when enough probes succeed over time" (MRC paper, section 3). Our choice.
  p.revive_successes_max = 80;
  p.damping_window = FabricTime::from_ms(60'000);
  // A NIC reports its dead ports to its peers (MRC paper, section 3). How often it repeats that is our choice.
  p.port_status_interval = FabricTime::from_ms(10);
  p.port_status_interval_max = FabricTime::from_ms(1000);
  // MRC paper, section 2.4: in each RTT in which a queue pair receives and sends nothing.
  p.reverse_probe_interval = p.base_rtt;
}

/// A NIC finds losses no faster than the transport's profile has it.
void apply_nic(TransportProfile& p, const NicLosses& nic) {
  p.reorder_window = std::max(p.reorder_window, nic.reorder_window);
  p.reorder_window_max = std::max(p.reorder_window_max, p.reorder_window);
  p.tail_probe = std::max(p.tail_probe, nic.tail_probe);
  p.ack_timeout = std::max(p.ack_timeout, nic.ack_timeout);
  p.exponential_retries = std::max(p.exponential_retries, nic.exponential_retries);
}

TransportProfile without_nic(std::string_view name, const Topology& topology) {
  TransportProfile p;
  p.name = name;
  p.base_rtt = topology.base_rtt;
  p.pmtu = topology.pmtu;
  p.dscps = topology.dscps;
  // One packet of reordering tolerance per unit of queue delay that congestion control accepts:
  // target_qdelay = 0.75 base RTT with trimming (UEC 1.0.3 p. 390).
  p.reorder_window = p.base_rtt + p.base_rtt * 3 / 4;
  p.skip_age_out = p.base_rtt * 2;
  p.reorder_window_max = std::max(p.reorder_window, p.base_rtt + worst_queue_delay(topology));
  p.tail_probe = p.reorder_window * 2;
  p.sack_threshold = topology.pmtu > 2048 ? 16384 : 4096;
  p.max_psn_range = psn_range_for(topology);
  derive_nscc(p, topology);
  // Our choice: what is under way at line rate when a stall begins, but not all of a window.
  const BitRate line{topology.host_rate.bps * topology.planes};
  p.receive_buffer = static_cast<uint32_t>(
      std::min<uint64_t>(bytes_in(line, p.base_rtt).value, kLargestReceiveBuffer));
  p.rc_ack_timeout = p.base_rtt * 32;
  p.cnp_interval = cnp_interval_of(p.dcqcn, DcqcnPlace{topology.host_rate, p.base_rtt});
  const uint64_t bdp = bytes_in(topology.host_rate, p.base_rtt).value / topology.pmtu + 1;
  p.rc_window = static_cast<uint32_t>(std::clamp<uint64_t>(bdp * 2, 128, 8192));
  if (name == "roce") p.transport = TransportKind::kRoce;
  if (name == "lab" || name == "roce") {
    p.ack_timeout = p.base_rtt * 8;
    p.probe_interval = p.base_rtt * 2;
    p.probe_interval_max = p.base_rtt * 32;
    p.damping_window = p.base_rtt * 500;
    p.port_status_interval = p.base_rtt * 4;
    p.port_status_interval_max = p.base_rtt * 128;
    p.reverse_probe_interval = p.base_rtt;
    return p;
  }
  if (name != "production") {
    throw std::invalid_argument("transport profile \"" + std::string(name) +
                                "\" is not known; there are lab, production and roce");
  }
  make_production(p);
  return p;
}

}  // namespace

TransportProfile make_profile(std::string_view name, const Topology& topology) {
  TransportProfile p = without_nic(name, topology);
  apply_nic(p, topology.nic.losses);
  return p;
}

}  // namespace mrclab::endpoint
