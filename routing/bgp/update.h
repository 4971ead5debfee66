#pragma once
// The UPDATE message (RFC 4271 section 4.3) with routes of IPv6 unicast in MP_REACH_NLRI and MP_UNREACH_NLRI
// (RFC 4760, RFC 2545), and errors in it by RFC 7606.
//
// We send MP_REACH_NLRI or MP_UNREACH_NLRI first and one of them in a message (RFC 7606 section 5.1); we take
// any order and any mix. Routes of other address families are parsed for their syntax, where we have it,
// and ignored.

#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "routing/base/prefix.h"
#include "routing/bgp/attribute_rules.h"
#include "routing/bgp/message.h"

namespace mrclab::routing {

/// A wrong attribute that did not end the session: what was done about it, for counters and the event log.
struct AttributeFault {
  uint8_t code = 0;  ///< 0: of the list of attributes itself
  ErrorAction action = ErrorAction::kNone;
  std::string reason;
};

struct Update {
  std::vector<Prefix> withdrawn;
  std::vector<Prefix> announced;
  /// Those of the announced prefixes. The paths of all these prefixes in a table share them, because a table
  /// of 100,000 prefixes would otherwise hold 100,000 copies.
  std::shared_ptr<const PathAttributes> attributes;
  bool end_of_rib = false;  ///< of IPv6 unicast (RFC 4724 section 2)
  std::vector<AttributeFault> faults;
};

/// What the attributes of one UPDATE may take beside MP_REACH_NLRI with one prefix.
inline constexpr size_t kMaxAttributeOctets = kMaxBgpMessage - 64;

struct UpdateContext {
  bool four_octet_as = true;
  AsNumber peer_as;
};

/// The body of an UPDATE; or the answer, where RFC 7606 demands that the session ends. What is treated as
/// withdrawn stands among the withdrawn.
std::variant<Update, Notification> decode_update(OctetView body, const UpdateContext& context);

/// As many messages as it takes. `attributes`: encode_attributes()'s, of which there is room for at most
/// kMaxAttributeOctets; the next hop has 16 octets.
void encode_announcements(std::vector<Octets>& to, OctetView attributes,
                          const Ipv6Address& next_hop, std::span<const Prefix> prefixes);
void encode_withdrawals(std::vector<Octets>& to, std::span<const Prefix> prefixes);
Octets encode_end_of_rib();

}  // namespace mrclab::routing
