#pragma once
// EV <-> path. Computed, never stored (MRC paper §2.2-2.3).
//
//   path     plane + T0 uplink ("p2/u0"), or plane alone when both hosts are on one T0 ("p2/-")
//   EV       bits 31-24 zero, 23-16 plane, 15-14 set, 13-0 T0 uplink (0x3FFF = T0-local)
//
// Where switches choose by a hash (routing: ecmp), an EV names its plane only, and the rest of it is a
// number that the hash stirs in (fabric/paths/ecmp.h computes the uplink):
//
//   path     plane + number: "p2/e17" with an IPv6 underlay, "p2/f17" with an IPv4 one
//   EV       bit 31 set, 30 IPv4, 29-24 zero, 23-16 plane, 15-14 set, 13-10 plane again, 9-0 number
//
// so the low half, which is all that IPv4 carries, holds the plane as well: no two planes of a queue
// pair have it in common, and what comes back in a SACK without its high half is complete again.
//
// A flow of RC has one path, which a hash chooses, too, and its source port is what Linux derives from the
// numbers of both queue pairs (endpoint/roce/flow_port.h). IPv6 only:
//
//   path     plane + source port less 0xC000: "p2/q17"
//   EV       bits 31 and 29 set, 28-24 zero, 23-16 plane, 15-14 set, 13-0 number
//
// In a fabric that is no regular planes the plane is the source's NIC port and the uplink a place in
// the list of shortest paths from there (fabric/topology/graph_paths.h).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fabric/base/ids.h"

namespace mrclab {

inline constexpr uint32_t kT0LocalUplink = 0x3FFF;
inline constexpr uint32_t kHashNumbers = 1024;     ///< EVs of one plane that a hash distinguishes
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

}  // namespace mrclab
