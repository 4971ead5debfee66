#pragma once
// The routes of a host in a fabric that routes by itself (draft-xu-idr-fare-in-mpson): its NIC is a stub AS, whose speaker
// has a session with the leaf at each port (routing/node/node_speaker.h). It announces the host's one address over
// each, with its rate, and joins the routes that it receives: for a destination the planes that lead there, with
// weights in proportion to their path bandwidth. A plane that withdraws the destination, announces it as unreachable
// or whose port is dark has no part in it, until it is back.

#include <cstdint>
#include <vector>

#include "endpoint/host/host_shared.h"
#include "endpoint/host/nic_ports.h"
#include "routing/node/node_speaker.h"

namespace mrclab::endpoint {

class HostRoutes : public routing::NodeSpeaker {
 public:
  /// Both outlive it.
  HostRoutes(HostShared& host, NicPorts& ports);

  /// Do the NICs of this fabric speak? Else none of the rest may be called.
  static bool nics_speak_bgp(const Topology& topology);

  /// Begins anew with the ports that are live. `wanted`: hosts that this one sends to; requested if the fabric
  /// announces no others to NICs.
  void start(const std::vector<uint32_t>& wanted);
  void set_live(PortId port, bool up) { live_speaker().set_carrier(port, up, host_.now); }
  void set_rate(PortId port, BitRate rate);
  void run();
  FabricTime deadline() const { return speaker().deadline(); }

  /// By plane, 0 for planes that do not lead to that host.
  std::vector<uint32_t> plane_weights(uint32_t host) const;
  /// Hosts with other weights since the last call, each once.
  std::vector<uint32_t> take_changed();

 private:
  void fib_changed(const routing::Prefix& prefix, const routing::FibEntry& entry,
                   FabricTime now) override;
  const routing::FibEntry* entry_of(uint32_t host) const;

  HostShared& host_;
  NicPorts& ports_;
  std::vector<uint32_t> changed_;
};

}  // namespace mrclab::endpoint
