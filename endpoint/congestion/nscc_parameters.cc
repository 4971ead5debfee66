#include "endpoint/congestion/nscc_parameters.h"

#include <algorithm>

#include "endpoint/base/sequence.h"
#include "endpoint/congestion/congestion_control.h"

namespace mrclab::endpoint {

namespace {

using Wide = unsigned __int128;

constexpr uint64_t kReferenceBdp = 150'000;  // bytes: 100 Gb/s x 12 us (UEC 1.0.3 p. 390)
constexpr FabricTime kReferenceRtt = FabricTime::from_us(12);

uint32_t in_32_bits(Wide value) {
  return static_cast<uint32_t>(std::min<Wide>(value, 0xFFFF'FFFFu));
}

Wide count_of(FabricTime t) { return static_cast<uint64_t>(t.ps()); }

}  // namespace

void derive_nscc(TransportProfile& p, const Topology& topology) {
  p.ports = topology.planes;
  const int64_t unit = kTimestampUnit.ps();
  p.nscc_base_rtt = FabricTime::from_ps((p.base_rtt.ps() + unit - 1) / unit * unit);
  const bool trims = topology.queues.trim;
  p.nscc_target_delay = trims ? p.nscc_base_rtt * 3 / 4 : p.nscc_base_rtt;
  const Wide bdp = bytes_in({topology.host_rate.bps * p.ports}, p.nscc_base_rtt).value;
  const Wide mss_a = bdp * p.pmtu;  // MSS x a x BDP_ref
  p.nscc_max_cwnd = in_32_bits(bdp * 3 / 2);
  p.nscc_fi = in_32_bits(5 * mss_a / kReferenceBdp);
  p.nscc_eta = in_32_bits(15 * mss_a / (100 * kReferenceBdp));
  p.nscc_pi = in_32_bits(4 * mss_a * count_of(p.nscc_target_delay) /
                         (kReferenceBdp * count_of(kReferenceRtt)));
  p.nscc_fi_scale_permille = in_32_bits(250 * bdp / kReferenceBdp);
  p.nscc_clear_delay = p.nscc_base_rtt / 12;
  p.nscc_adjust_bytes = in_32_bits(8 * (Wide{p.pmtu} + kNominalHeaderBytes));
  p.nscc_adjust_period = p.nscc_base_rtt;
  p.nscc_qa_threshold = trims ? p.nscc_base_rtt * 100 : p.nscc_target_delay * 4;
}

NsccParameters nscc_parameters(const TransportProfile& profile, uint32_t live_ports) {
  const auto share = [&](uint32_t value) { return uint64_t{value} * live_ports / profile.ports; };
  NsccParameters p;
  p.mtu = {profile.pmtu + kNominalHeaderBytes};
  p.fi = {share(profile.nscc_fi)};
  p.eta = {share(profile.nscc_eta)};
  p.pi = {share(profile.nscc_pi)};
  p.fi_scale_permille = share(profile.nscc_fi_scale_permille);
  p.max_window = std::max(Bytes{share(profile.nscc_max_cwnd)}, p.mtu);
  return p;
}

}  // namespace mrclab::endpoint
