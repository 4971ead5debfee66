#pragma once
// The state of an interface, and how it is read from RTM_NEWLINK and RTM_DELLINK, which link.cc and link_watch.cc
// both receive.

#include <linux/netlink.h>

#include <cstdint>
#include <optional>
#include <string>

#include "fabric/topology/topology.h"

namespace mrclab::netio {

struct LinkState {
  uint32_t ifindex = 0;
  std::string name;
  MacAddress mac{};
  uint32_t mtu = 0;
  bool admin_up = false;  ///< IFF_UP
  bool carrier = false;   ///< IFF_LOWER_UP: a veth has it when both ends are up
  uint32_t master = 0;    ///< index of the bridge or bond that has it; 0: none
  /// How many ask for all packets of the interface; a packet socket of libpcap does before it receives the first.
  uint32_t promiscuity = 0;
  uint32_t xdp = 0;  ///< number of the BPF program at its driver (XDP); 0: none
};

/// Empty for any other message, and for a malformed one.
std::optional<LinkState> parse_link_message(const nlmsghdr& header);

}  // namespace mrclab::netio
