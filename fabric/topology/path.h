#pragma once
// EV <-> path <-> carrier. Computed, never stored (MRC paper §2.2-2.3).
//
//   path     plane + T0 uplink ("p2/u0"), or plane alone when both hosts are on one T0 ("p2/-")
//   EV       bits 31-24 zero, 23-16 plane, 15-14 set, 13-0 T0 uplink (0x3FFF = T0-local)
//
// Where switches choose by a hash (routing: ecmp), an EV names its plane only, and the rest of it is a
// number that the hash stirs in (fabric/paths/ecmp.h says which uplink comes of it):
//
//   path     plane + number: "p2/e17" with an IPv6 underlay, "p2/f17" with an IPv4 one
//   EV       bit 31 set, 30 IPv4, 29-24 zero, 23-16 plane, 15-14 set, 13-10 plane again, 9-0 number
//
// so the low half, which is all that IPv4 carries, says the plane as well: no two planes of a queue
// pair have it in common, and what comes back in a SACK without its high half is complete again.
//
// A flow of RC has one path, which a hash chooses, too, and its source port is what Linux derives from the
// numbers of both queue pairs (endpoint/roce/flow_port.h). IPv6 only:
//
//   path     plane + source port less 0xC000: "p2/q17"
//   EV       bits 31 and 29 set, 28-24 zero, 23-16 plane, 15-14 set, 13-0 number
//
//   carrier  5f00:0 : source T0 : T1 : destination T0 : destination port     (cross-T1)
//            5f00:0 : T0 : destination port                                  (T0-local)
//   uSID     as the fabric's layout says (fabric/topology/usid.h)
//
// In a fabric that is no regular planes the plane is the source's NIC port and the uplink a place in
// the list of shortest paths from there (fabric/topology/graph_paths.h); its carriers name every switch of the
// path. With `decap: leaf` no carrier names the destination port, with `segments: adjacency` a switch
// that another follows is named by the link between them (fabric_shape.h).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fabric/base/ids.h"
#include "fabric/topology/topology.h"

namespace mrclab {

inline constexpr uint32_t kUsidBlock = 0x5f00'0000;  ///< 5f00:0::/32, RFC 9602 + F3216
inline constexpr uint8_t kUsidBlockBits = 32, kUsidBits = 16;
inline constexpr uint32_t kUsidsInCarrier = 6;  ///< F3216: 128 bits less the block
inline constexpr uint32_t kT0LocalUplink = 0x3FFF;
inline constexpr uint32_t kHashNumbers = 1024;     ///< EVs of one plane that a hash tells apart
inline constexpr uint32_t kMaxHashedPlanes = 16;   ///< what bits 13-10 hold
inline constexpr uint32_t kFlowNumbers = 1 << 14;  ///< source ports of RoCEv2, from 0xC000

/// Does an EV name its uplink (SRv6), or is it what the switches' hash makes of it?
enum class Chosen : uint8_t { kByName, kByHashIpv6, kByHashIpv4, kByFlow };

/// One path through a fabric between two hosts. `uplink` is kT0LocalUplink for T0-local paths. For
/// a path that a hash chooses, `uplink` is the EV's number in its plane.
struct Path {
  uint32_t plane = 0;
  uint32_t uplink = kT0LocalUplink;
  Chosen chosen = Chosen::kByName;
  bool named() const { return chosen == Chosen::kByName; }
  bool operator==(const Path&) const = default;
};

EntropyValue ev_of(Path path);
/// Set where switches choose the path by a hash.
inline constexpr uint32_t kHashedEv = 0x8000'0000;
inline constexpr uint32_t kEvSetBits = 0xC000;  ///< keep the UDP source port in RoCEv2's range
/// What path_of() answers for a value in which kHashedEv is set.
std::optional<Path> path_of_hashed(EntropyValue ev);
/// Empty when fixed bits are wrong.
inline std::optional<Path> path_of(EntropyValue ev) {
  if ((ev.value & kHashedEv) != 0) return path_of_hashed(ev);
  if (ev.value >> 24 != 0 || (ev.value & kEvSetBits) != kEvSetBits) return std::nullopt;
  return Path{ev.value >> 16, ev.value & kT0LocalUplink};
}
/// The low half of a hashed EV of an IPv4 underlay, made whole again. Any 16 bits give some value.
EntropyValue hashed_ev_ipv4(uint16_t source_port);
/// The part of an EV of ours that a responder reflects: of a hashed EV on IPv4 the low half, else
/// all.
EntropyValue reflected(EntropyValue ev);
std::string to_string(Path path);  ///< "p3/u1", "p3/-", "p3/e17", "p3/f17", "p3/q17"
std::optional<Path> parse_path(std::string_view text);  ///< inverse of to_string

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
