#pragma once
// The fast notification of a failure, from a switch to its neighbours (switchd/fast_reroute.h). No draft that could be
// had defines a wire format: the FANN working group has a charter, a problem statement and a framework that leaves
// encoding to others, and "Adaptive Routing Notification" (draft-wh-rtgwg-adaptive-routing-arn, draft-liu-rtgwg-adaptive-
// routing-notification) defines fields and no transport. So the first four octets are ARN's fields (type with its code
// points 3 and 4, version, metric, parameter bitmap), and all else is our choice: UDP over IPv6 between the addresses
// of the link, hop limit 255 so that it comes from a neighbour (RFC 5082), CS6, a sequence number and prefixes.
//
//   octet 0   type: 3 failure detected, 4 failure eliminated
//         1   version 1 (4 bits), reserved (4 bits; ignored)
//         2   metric: 255, all is lost
//         3   parameters that follow: bit 7 (0x80), ours, prefixes
//       4-7   sequence number: counts a switch's notices
//         8   number of prefixes, 1 to 32; then for each its length in bits and 16 octets of address
//
// tshark shows it as UDP, and by name with the dissector of `mrclab export wireshark`.

#include <optional>
#include <vector>

#include "routing/base/octets.h"
#include "routing/base/prefix.h"
#include "routing/tcp/tcp_segment.h"

namespace mrclab::routing {

/// Of the dynamic range (RFC 6335), as nobody has assigned one.
inline constexpr uint16_t kNoticePort = 51'073;
inline constexpr size_t kMostNoticed = 32;  ///< prefixes in one notice; our choice

struct FailureNotice {
  enum class Type : uint8_t { kFailed = 3, kRestored = 4 };
  Type type = Type::kFailed;
  uint32_t sequence = 0;
  std::vector<Prefix> prefixes;  ///< 1 to kMostNoticed
};

/// The whole IPv6 packet.
Octets make_notice_packet(const TcpAddresses& addresses, const FailureNotice& notice);

/// Is it UDP over IPv6 to kNoticePort?
bool is_notice_packet(OctetView packet);
/// nullopt for one that does not come from `addresses.source` or go to `addresses.destination`, was forwarded, is cut
/// short, has a wrong checksum, or has fields that this version does not define.
std::optional<FailureNotice> parse_notice_packet(OctetView packet, const TcpAddresses& addresses);

}  // namespace mrclab::routing
