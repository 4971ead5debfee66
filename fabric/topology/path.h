#pragma once
// Path <-> carrier, and the addresses of hosts and links. Computed, never stored (MRC paper §2.2-2.3); ev_path.h has
// entropy value <-> path.
//
//   carrier  5f00:0 : source T0 : T1 : destination T0 : destination port     (cross-T1)
//            5f00:0 : T0 : destination port                                  (T0-local)
//   uSID     by the fabric's layout (fabric/topology/usid.h)
//
// In a fabric that is no regular planes a carrier names every switch of the path (fabric/topology/graph_paths.h).
// With `decap: leaf` no carrier names the destination port, with `segments: adjacency` a switch
// that another follows is named by the link between them (fabric_shape.h).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fabric/base/ids.h"
#include "fabric/topology/ev_path.h"
#include "fabric/topology/topology.h"

namespace mrclab {

/// The active uSID: bits 32-47 of a carrier.
Usid active_usid(const Ipv6Address& carrier);
bool in_usid_block(const Ipv6Address& address);
/// Is the argument (everything behind the active uSID) empty?
bool end_of_carrier(const Ipv6Address& carrier);
/// RFC 9800 §4.1.1: argument moves to the front, the last 16 bits become zero.
void shift_carrier(Ipv6Address& carrier);

/// Carrier for a packet of `source` to `destination` (host numbers) over `path`. `role` is kNicPort
/// for MRC and kHostKernel for ordinary traffic. `::`, which no switch forwards, if the fabric has
/// no such path or host (an EV may come from a peer, so this is no assertion).
Ipv6Address make_carrier(const Topology& topology, uint32_t source, uint32_t destination, Path path,
                         UsidRole role = UsidRole::kNicPort);

/// The carrier of a way, given as its exits: the NIC's port, then one port of each switch.
Ipv6Address carrier_along(const Topology& topology, const std::vector<PortRef>& exits,
                          UsidRole role = UsidRole::kNicPort);

/// What an unshifted carrier names, in regular planes with segments: node and decap: nic. Empty for
/// any other carrier.
struct CarrierRoute {
  uint32_t source_row = 0;
  uint32_t destination_row = 0;
  uint32_t downlink = 0;
  UsidRole role = UsidRole::kNicPort;
  Path path;
  bool operator==(const CarrierRoute&) const = default;
};
std::optional<CarrierRoute> parse_carrier(const Topology& topology, const Ipv6Address& carrier);

/// A host's own address, the same in every plane: fd00:<row>::<host>.
Ipv6Address host_address(const Topology& topology, uint32_t host);
/// The same for an IPv4 underlay: 10.h.h.h with the host's number, as IPv4-mapped IPv6 address
/// (RFC 4291 §2.5.5.2), which is how all of the project holds IPv4 addresses.
Ipv6Address host_address_ipv4(uint32_t host);
/// The address of a port on its link, by which neighbours speak to each other: fd01::<link>:0:1 at the lower
/// end, 2 at the upper. No host has such a one.
inline constexpr uint16_t kLinkBlock = 0xfd01;
Ipv6Address link_address(const Topology& topology, PortRef port);
/// The host with this IPv6 or mapped IPv4 address; empty for an address that no host has.
std::optional<uint32_t> host_of_address(const Topology& topology, const Ipv6Address& address);

std::string to_string(const Ipv6Address& address);  ///< RFC 5952 text

}  // namespace mrclab
