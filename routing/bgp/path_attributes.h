#pragma once
// The attributes of a path (RFC 4271 section 5), as a speaker that has external sessions only keeps them.

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "fabric/topology/topology.h"
#include "routing/bgp/communities.h"

namespace mrclab::routing {

enum class Origin : uint8_t { kIgp = 0, kEgp = 1, kIncomplete = 2 };

enum AttributeFlag : uint8_t {
  kFlagOptional = 0x80,
  kFlagTransitive = 0x40,
  kFlagPartial = 0x20,
  kFlagExtendedLength = 0x10,
};

namespace attribute {
inline constexpr uint8_t kOrigin = 1, kAsPath = 2, kNextHop = 3, kMed = 4, kLocalPref = 5,
                         kAtomicAggregate = 6, kAggregator = 7, kCommunities = 8, kOriginatorId = 9,
                         kClusterList = 10, kMpReach = 14, kMpUnreach = 15,
                         kExtendedCommunities = 16, kAs4Path = 17, kAs4Aggregator = 18;
}  // namespace attribute

struct AsSegment {
  enum class Type : uint8_t { kSet = 1, kSequence = 2 };
  Type type = Type::kSequence;
  std::vector<AsNumber> numbers;  ///< 1 to 255
  auto operator<=>(const AsSegment&) const = default;
};

class AsPath {
 public:
  static constexpr size_t kMaxNumbers = 512;  ///< a longer one is refused; our choice

  AsPath() = default;
  explicit AsPath(std::vector<AsSegment> segments) : segments_(std::move(segments)) {}
  const std::vector<AsSegment>& segments() const { return segments_; }
  bool empty() const { return segments_.empty(); }
  /// Its length in decisions: a set counts as one (RFC 4271 section 9.1.2.2).
  size_t length() const;
  bool contains(AsNumber as) const;
  /// The neighbour it came from: the first of a first sequence.
  std::optional<AsNumber> first() const;
  AsPath prepended(AsNumber as) const;
  /// This path, from a speaker of two octets, with the true numbers of AS4_PATH (RFC 6793 section 4.2.3).
  AsPath restored(const AsPath& four_octets) const;
  auto operator<=>(const AsPath&) const = default;

 private:
  std::vector<AsSegment> segments_;
};

/// An optional transitive attribute that means nothing here and is passed on.
struct UnknownAttribute {
  uint8_t flags = 0;
  uint8_t code = 0;
  Octets value;
  auto operator<=>(const UnknownAttribute&) const = default;
};

struct Aggregator {
  AsNumber as;
  RouterId router;
  auto operator<=>(const Aggregator&) const = default;
};

struct PathAttributes {
  Origin origin = Origin::kIgp;
  AsPath as_path;
  Ipv6Address next_hop{};
  std::optional<uint32_t> med;
  bool atomic_aggregate = false;
  std::optional<Aggregator> aggregator;
  std::vector<uint32_t> communities;  ///< RFC 1997
  ExtendedCommunities extended;
  std::vector<UnknownAttribute> unknown;
  auto operator<=>(const PathAttributes&) const = default;
};

/// All attributes but MP_REACH_NLRI, in the order of their codes. `four_octet_as`: what was agreed with the
/// peer; without it numbers that do not fit go into AS4_PATH as well.
Octets encode_attributes(const PathAttributes& attributes, bool four_octet_as);

}  // namespace mrclab::routing
