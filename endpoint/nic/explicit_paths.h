#pragma once
// Paths that a user wrote down, for endpoints without the lab: addresses and MACs per plane, and
// any number of carriers per plane. A small model topology numbers them: plane = interface, host 0
// and host 1 the two ends, T0 uplink = place in the carrier list. Which value uses which carrier:
//
//   EV p<plane>/u<i>  ->  carriers[i mod size] of that plane
//
// so more entropy values than carriers repeat a carrier with another source port and flow label,
// which is what an ECMP fabric needs.

#include <string>
#include <vector>

#include "endpoint/nic/path_mapper.h"
#include "endpoint/paths/ev_format.h"

namespace mrclab::endpoint {

/// One plane as one end sees it.
struct ExplicitPlane {
  MacAddress source_mac{};
  MacAddress next_hop_mac{};
  std::vector<Ipv6Address> carriers;  ///< outer destinations; empty: the peer's inner address
  std::vector<Ipv6Address> accepted;  ///< outer destinations taken beside our inner address
};

struct ExplicitPathsConfig {
  uint32_t self = 0;  ///< host number, 0 or 1
  Ipv6Address local{};
  Ipv6Address remote{};
  std::vector<ExplicitPlane> planes;  ///< 1 to 16
  uint16_t udp_port = kMrcUdpPort;
  /// Format of values that we send; any other is reflected.
  EvFormat ev_format = EvFormat::kNative;
  bool one_path = true;  ///< one path per plane, as in the model below
};

class ExplicitPaths : public PathMapper {
 public:
  /// Throws std::invalid_argument if there is no plane, more than kMaxPlanes, or both ends have one
  /// address.
  explicit ExplicitPaths(ExplicitPathsConfig config);
  static constexpr size_t kMaxPlanes = 16;  ///< what a uSID's plane nibble holds

  Ipv6Address address(uint32_t host) const override;
  std::optional<uint32_t> host_of(const Ipv6Address& address) const override;
  PathHeaders headers(uint32_t destination, EntropyValue ev) const override;
  bool accepts(uint32_t port, const Ipv6Address& outer_destination) const override;
  EntropyValue on_wire(EntropyValue ev) const override {
    return endpoint::on_wire(config_.ev_format, ev);
  }
  EntropyValue from_wire(EntropyValue wire) const override {
    return endpoint::from_wire(config_.ev_format, wire, config_.one_path);
  }
  uint16_t udp_port() const override { return config_.udp_port; }

 private:
  ExplicitPathsConfig config_;
};

/// The numbers of the model of two ends.
struct PlainModel {
  uint32_t planes = 1;
  uint32_t evs_per_plane = 1;  ///< 1: one path per plane
  BitRate port_rate = BitRate::from_gbps(100);
  FabricTime base_rtt = FabricTime::from_ms(1);
  uint32_t pmtu = 4096;
  DscpMap dscps = {};
};
/// Two hosts, 0 and 1, with this many paths between them. The switches are unknown: queue
/// thresholds mean nothing, latencies are 0, and the base RTT is the given one.
Topology plain_topology(const PlainModel& model);

}  // namespace mrclab::endpoint
