#include "routing/bgp/communities.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace mrclab::routing {

static_assert(std::numeric_limits<float>::is_iec559, "floats go onto the wire as they are");

namespace {

constexpr uint8_t kLinkBandwidthSubType = 0x04;
constexpr uint8_t kUpaType = 0x03, kUpaSubType = 0x09, kUpaDrop = 0x80;
constexpr uint64_t kMegabit = 1'000'000;
/// Rates from here on are no rates of anything: the sum of many must not overflow.
constexpr float kAbsurdBytesPerSecond = 1e17F;

ExtendedCommunity two_octet_as_specific(uint8_t type, uint8_t sub_type, AsNumber as,
                                        uint32_t local) {
  ExtendedCommunity made;
  made.octets[0] = type;
  made.octets[1] = sub_type;
  store_be(&made.octets[2], as.two_octets());
  store_be(&made.octets[4], local);
  return made;
}

bool is_link_bandwidth(const ExtendedCommunity& community) {
  return (community.type() & ~ExtendedCommunity::kNonTransitive) == 0 &&
         community.sub_type() == kLinkBandwidthSubType;
}

std::optional<BitRate> rate_of(const ExtendedCommunity& community, BandwidthForm::Unit unit) {
  const auto raw = load_be<uint32_t>(&community.octets[4]);
  if (unit == BandwidthForm::Unit::kMegabitsPerSecond) return BitRate{raw * kMegabit};
  const auto bytes = std::bit_cast<float>(raw);
  // Not a number fails both comparisons.
  if (!(bytes >= 0.0F && bytes < kAbsurdBytesPerSecond)) return std::nullopt;
  return BitRate{static_cast<uint64_t>(static_cast<double>(bytes) * 8.0)};
}

}  // namespace

ExtendedCommunity make_bandwidth(BitRate rate, AsNumber as, const BandwidthForm& form) {
  uint32_t raw = 0;
  if (form.unit == BandwidthForm::Unit::kMegabitsPerSecond) {
    raw = static_cast<uint32_t>(
        std::min<uint64_t>(rate.bps / kMegabit, std::numeric_limits<uint32_t>::max()));
  } else {
    raw = std::bit_cast<uint32_t>(static_cast<float>(rate.bps) / 8.0F);  // an eighth is exact
  }
  return two_octet_as_specific(form.type, form.sub_type, as, raw);
}

bool is_bandwidth(const ExtendedCommunity& community, const BandwidthForm& form) {
  return is_link_bandwidth(community) ||
         (community.type() == form.type && community.sub_type() == form.sub_type);
}

std::optional<BitRate> bandwidth_in(const ExtendedCommunities& communities,
                                    const BandwidthForm& form) {
  std::optional<BitRate> lowest;
  for (const ExtendedCommunity& community : communities) {
    if (!is_bandwidth(community, form)) continue;
    const auto unit =
        is_link_bandwidth(community) ? BandwidthForm::Unit::kFloatBytesPerSecond : form.unit;
    const auto rate = rate_of(community, unit);
    if (rate && (!lowest || *rate < *lowest)) lowest = rate;
  }
  return lowest;
}

ExtendedCommunity make_unreachable(RouterId originator, bool drop) {
  ExtendedCommunity made;
  made.octets = {kUpaType, kUpaSubType, drop ? kUpaDrop : uint8_t{0}, 0, 0, 0, 0, 0};
  store_be(&made.octets[4], originator.value);
  return made;
}

std::optional<Unreachability> unreachability_of(const ExtendedCommunity& community) {
  if (community.type() != kUpaType || community.sub_type() != kUpaSubType) return std::nullopt;
  const RouterId originator{load_be<uint32_t>(&community.octets[4])};
  if (originator.value == 0) return std::nullopt;
  return Unreachability{originator, (community.octets[2] & kUpaDrop) != 0};
}

bool says_unreachable(const ExtendedCommunities& communities) {
  return std::any_of(communities.begin(), communities.end(), [](const ExtendedCommunity& one) {
    return unreachability_of(one).has_value();
  });
}

ExtendedCommunity make_fib_suppress(AsNumber as, RouterId router, uint8_t sub_type) {
  return two_octet_as_specific(0x00, sub_type, as, router.value);
}

bool says_fib_suppress(const ExtendedCommunities& communities, uint8_t sub_type) {
  return std::any_of(communities.begin(), communities.end(), [&](const ExtendedCommunity& one) {
    return one.type() == 0x00 && one.sub_type() == sub_type;
  });
}

}  // namespace mrclab::routing
