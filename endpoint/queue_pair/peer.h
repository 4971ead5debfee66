#pragma once
// What a host keeps about one other host that it has queue pairs with.

#include <memory>
#include <utility>

#include "endpoint/congestion/congestion_control.h"
#include "endpoint/congestion/window_reports.h"
#include "endpoint/queue_pair/port_status.h"
#include "endpoint/queue_pair/reverse_path.h"

namespace mrclab::endpoint {

struct Peer {
  Peer(uint32_t host_number, uint32_t all_ports, ReversePath way_back,
       std::unique_ptr<CongestionControl> send_window, FabricTime base_rtt)
      : host(host_number),
        status(all_ports),
        reverse(std::move(way_back)),
        window(std::move(send_window)),
        window_reports(base_rtt, window->window()) {}

  uint32_t host;
  /// Queue pairs to it; without any we send it no port status and ignore its own.
  uint32_t queue_pairs = 0;
  bool met = false;  ///< there were queue pairs before, so it may have an older port status of us
  /// Bits: planes with a route to it, for packets that name no path. All where NICs do not speak BGP.
  uint32_t routed = ~0u;
  bool way_back_routed = false;  ///< the way back names no paths either
  PortStatus status;
  ReversePath reverse;
  FabricTime held_until;  ///< no data goes to it before this (NicProfile: remapping)
  std::unique_ptr<CongestionControl> window;  ///< per destination, shared by the queue pairs to it
  WindowReports window_reports;
};

}  // namespace mrclab::endpoint
