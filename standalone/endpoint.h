#pragma once
// One end without the lab: named interfaces of this machine, one per plane, addresses by hand, a host
// (endpoint/host/host_node.h) at wall-clock speed. The peer's address and MACs come over an out-of-band
// channel; where a router stands between the ends, its MAC is given as next hop instead.
//
//   netio::LineChannel channel = netio::LineChannel::connect(...) or accept(...);
//   StandaloneEndpoint end(config, channel, is_server);
//   end.device()... (endpoint/host/verbs.h)      while (...) { end.poll(); ... }
//
// Costs: poll() is one look at the rings and at most one sendmmsg.

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "endpoint/base/connection_attributes.h"
#include "endpoint/host/host_node.h"
#include "endpoint/nic/explicit_paths.h"
#include "endpoint/options/wall_profile.h"
#include "fabric/node/no_observer.h"
#include "netio/rpc/line_channel.h"
#include "netio/runtime/wall_driver.h"

namespace mrclab::standalone {

struct PlaneConfig {
  std::string interface = {};
  std::optional<MacAddress> next_hop;  ///< none: the peer's own MAC
  std::vector<Ipv6Address> carriers;   ///< outer destinations (uSID carriers); none: the peer
  std::vector<Ipv6Address> accepted;   ///< outer destinations for us beside our own address
};

struct EndpointConfig {
  /// Namespace of the interfaces; empty: ours. The channel stays in ours.
  std::string network_namespace;
  Ipv6Address address{};  ///< inner address of this end
  std::vector<PlaneConfig> planes;
  uint32_t evs_per_plane = 1;  ///< raised to the largest number of carriers
  uint32_t pmtu = 4096;  ///< payload per packet; interfaces need 132 bytes more. Same at both ends
  uint16_t udp_port = kMrcUdpPort;
  DscpMap dscps;  ///< classes of our packets, and those that switches give them
  endpoint::EvFormat ev_format = endpoint::EvFormat::kNative;
  BitRate port_rate = BitRate::from_gbps(100);  ///< paces the sender, sizes windows
  FabricTime base_rtt = endpoint::kWallBaseRtt;
  double dilation = 1;
  bool icrc = true;
  endpoint::CongestionAlgorithm congestion_control = endpoint::CongestionAlgorithm::kNscc;
  uint32_t max_psn_range = 1024;
  /// Receive ring, 14 frames of full size per 64 KiB: a queue pair's full PSN range, so that a process that
  /// does not get to run loses nothing of it. Every packet takes the next slot, so a ring of 32 MiB is in no
  /// cache: packets took a third more time (tests/bench/README.md).
  size_t ring_bytes = 5 << 20;
  bool qdisc_bypass = true;  ///< faster; hides what we send from tcpdump on our own interface
  uint64_t seed = 0;         ///< 0: from the kernel
};

/// Opens the interfaces and closes them again, so that a mistake is reported at once and not when a peer
/// has come. Throws as StandaloneEndpoint does.
void check_interfaces(const EndpointConfig& config);

/// Throws std::invalid_argument for a configuration that cannot work, SystemError for the kernel's
/// refusals.
class StandaloneEndpoint {
 public:
  /// Sends our address to the peer and receives its own. Waits for it at most 10 s.
  StandaloneEndpoint(const EndpointConfig& config, netio::LineChannel& channel, bool server);

  endpoint::Device& device() { return host_->device(); }
  const Ipv6Address& remote_address() const { return remote_; }
  /// What this end offers a connection.
  const endpoint::ConnectionAttributes& offer() const { return offer_; }
  bool poll() { return driver_.poll(); }
  void wait(std::chrono::nanoseconds limit) { driver_.wait(limit); }
  /// Polls until `done()`; false if `limit` passed first. Sleeps when there is nothing to do.
  template <class Done>
  bool run_until(Done done, std::chrono::milliseconds limit) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!done()) {
      if (poll()) continue;
      if (std::chrono::steady_clock::now() >= end) return false;
      driver_.wait(std::chrono::milliseconds(1));
    }
    return true;
  }
  FabricTime now() const { return driver_.now(); }
  endpoint::HostStats stats() const { return host_->stats(); }
  netio::WallDriver::Report report() { return driver_.report(); }

 private:
  endpoint::ExplicitPathsConfig meet(const EndpointConfig& config, netio::LineChannel& channel,
                                     bool server);

  FramePool frames_;
  NoObserver observer_;
  netio::WallDriver driver_;
  Ipv6Address remote_{};
  endpoint::ExplicitPaths paths_;
  Topology topology_;
  endpoint::ConnectionAttributes offer_;
  std::unique_ptr<endpoint::HostNode> host_;
};

}  // namespace mrclab::standalone
