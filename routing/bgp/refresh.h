#pragma once
// ROUTE-REFRESH (RFC 2918), with the borders of RFC 7313, and outbound route filters in it (RFC 5291) for
// prefixes (RFC 5292).
//
// FRR writes REMOVE as 0x80 and REMOVE-ALL as 0xC0, contrary to RFC 5291, and takes every action that is not
// ADD in the first entry for REMOVE-ALL. So 0xC0 is read as REMOVE-ALL here, and we never send REMOVE: we
// send REMOVE-ALL to be applied later, then the whole list to be applied at once, which both readings
// understand.

#include <optional>
#include <variant>
#include <vector>

#include "routing/base/prefix.h"
#include "routing/bgp/message.h"

namespace mrclab::routing {

struct OrfEntry {
  enum class Action : uint8_t { kAdd = 0, kRemove = 1, kRemoveAll = 2 };
  Action action = Action::kAdd;
  bool permit = true;
  uint32_t sequence = 0;
  uint8_t min_length = 0, max_length = 0;  ///< of routes that match; 0: not given
  Prefix prefix;
  bool operator==(const OrfEntry&) const = default;
};

struct RouteRefresh {
  enum class Kind : uint8_t { kRequest = 0, kBegin = 1, kEnd = 2 };
  enum class When : uint8_t { kImmediate = 1, kDefer = 2 };
  uint16_t afi = 2;
  uint8_t safi = 1;
  Kind kind = Kind::kRequest;
  std::optional<When> when;       ///< there where filters are
  std::vector<OrfEntry> entries;  ///< of type 64; others are skipped
  bool operator==(const RouteRefresh&) const = default;
};

inline constexpr size_t kMaxOrfEntries =
    128;  ///< in one message: what fits; a longer list takes several

Octets encode_refresh(const RouteRefresh& refresh);
/// The body of a ROUTE-REFRESH. A filter that makes no sense in an ORF of prefixes removes all of that type
/// (RFC 5291 section 6), for which `entries` holds a single REMOVE-ALL.
std::variant<RouteRefresh, Notification> decode_refresh(OctetView body);

}  // namespace mrclab::routing
