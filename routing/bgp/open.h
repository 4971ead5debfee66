#pragma once
// The OPEN message (RFC 4271 section 4.2) and its capabilities (RFC 5492). Only IPv6 unicast is spoken here:
// a peer that does not is refused.

#include <optional>
#include <variant>

#include "routing/base/identifiers.h"
#include "routing/bgp/message.h"

namespace mrclab::routing {

inline constexpr uint8_t kBgpVersion = 4;
inline constexpr uint16_t kAfiIpv6 = 2;
inline constexpr uint8_t kSafiUnicast = 1;
inline constexpr uint8_t kOrfPrefix =
    64;  ///< the prefix ORF (RFC 5292); 128 was an older Cisco form

/// The value of a capability of ORF (RFC 5291 section 5): a set of bits.
enum OrfRole : uint8_t { kOrfNone = 0, kOrfReceives = 1, kOrfSends = 2, kOrfBoth = 3 };

struct Capabilities {
  bool ipv6_unicast = false;              ///< 1: multiprotocol (RFC 4760), AFI 2 SAFI 1
  bool route_refresh = false;             ///< 2 (RFC 2918)
  bool enhanced_refresh = false;          ///< 70 (RFC 7313)
  uint8_t prefix_orf = kOrfNone;          ///< 3: ORF type 64 of IPv6 unicast
  std::optional<AsNumber> four_octet_as;  ///< 65 (RFC 6793)
  bool operator==(const Capabilities&) const = default;
};

struct OpenMessage {
  AsNumber as;             ///< the true one: capability 65's where it is there
  uint16_t hold_time = 0;  ///< seconds; 0: no keepalives
  RouterId router;
  Capabilities capabilities;
  bool operator==(const OpenMessage&) const = default;
};

Octets encode_open(const OpenMessage& open);

/// What an OPEN is held against.
struct OpenExpectation {
  AsNumber own_as;
  RouterId own_router;
  std::optional<AsNumber> peer_as;  ///< none: any but ours
};
/// The body of an OPEN, or the answer to a wrong one. What is unknown in it is ignored.
std::variant<OpenMessage, Notification> decode_open(OctetView body,
                                                    const OpenExpectation& expected);

}  // namespace mrclab::routing
