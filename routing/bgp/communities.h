#pragma once
// Extended communities (RFC 4360): eight octets each. Those that mean something here:
//
//   link bandwidth   RFC 10005: type 0x00 or 0x40, sub-type 0x04, AS, float32 of bytes per second
//   unreachability   draft-ietf-idr-upa as FRR encodes it: 03 09, flags (0x80 drop), 0, router id
//   FIB suppression  draft-xu-idr-fare-in-mpson 4.2.1: 00, a sub-type that is not assigned, AS, router id

#include <array>
#include <optional>
#include <vector>

#include "fabric/base/units.h"
#include "routing/base/identifiers.h"
#include "routing/base/octets.h"

namespace mrclab::routing {

struct ExtendedCommunity {
  static constexpr uint8_t kNonTransitive = 0x40;  ///< a bit of the type (RFC 4360 section 2)
  std::array<uint8_t, 8> octets{};
  uint8_t type() const { return octets[0]; }
  uint8_t sub_type() const { return octets[1]; }
  bool transitive() const { return (type() & kNonTransitive) == 0; }
  auto operator<=>(const ExtendedCommunity&) const = default;
};
using ExtendedCommunities = std::vector<ExtendedCommunity>;

/// How path bandwidth is written. RFC 10005 is the default; earlier drafts of FARE had an AS-specific
/// transitive community of their own, whose sub-type was never assigned.
struct BandwidthForm {
  enum class Unit : uint8_t { kFloatBytesPerSecond, kMegabitsPerSecond };
  uint8_t type = 0x00;
  uint8_t sub_type = 0x04;
  Unit unit = Unit::kFloatBytesPerSecond;
  bool operator==(const BandwidthForm&) const = default;
};
inline constexpr BandwidthForm kLinkBandwidth{};
/// The older form. Sub-type and unit: our choice, as the drafts have "TBD".
inline constexpr BandwidthForm kFarePathBandwidth{0x00, 0x8A,
                                                  BandwidthForm::Unit::kMegabitsPerSecond};

ExtendedCommunity make_bandwidth(BitRate rate, AsNumber as, const BandwidthForm& form);
/// The lowest of all valid ones (RFC 10005 section 4). Both types of link bandwidth are always read, and
/// `form` beside them. Negative numbers and what is no finite number count as not there.
std::optional<BitRate> bandwidth_in(const ExtendedCommunities& communities,
                                    const BandwidthForm& form);
bool is_bandwidth(const ExtendedCommunity& community, const BandwidthForm& form);

ExtendedCommunity make_unreachable(RouterId originator, bool drop);
struct Unreachability {
  RouterId originator;
  bool drop = false;
};
/// One community, decoded; an originator of 0 is no valid one.
std::optional<Unreachability> unreachability_of(const ExtendedCommunity& community);
bool says_unreachable(const ExtendedCommunities& communities);

/// Sub-type: our choice among those that IANA has not assigned; FRR and BIRD pass it on untouched.
inline constexpr uint8_t kFibSuppressSubType = 0x8B;
ExtendedCommunity make_fib_suppress(AsNumber as, RouterId router, uint8_t sub_type);
bool says_fib_suppress(const ExtendedCommunities& communities, uint8_t sub_type);

}  // namespace mrclab::routing
