#include "routing/bgp/path_attributes.h"

#include <algorithm>

namespace mrclab::routing {

namespace {

constexpr size_t kMaxInSegment = 255;
constexpr uint8_t kWellKnown = kFlagTransitive;
constexpr uint8_t kOptionalTransitive = kFlagOptional | kFlagTransitive;

void put_attribute(Octets& to, uint8_t flags, uint8_t code, OctetView value) {
  flags = static_cast<uint8_t>(flags & ~kFlagExtendedLength);
  if (value.size() > 0xFF) flags |= kFlagExtendedLength;
  OctetWriter writer(to);
  writer.u8(flags).u8(code);
  if (value.size() > 0xFF) {
    writer.u16(static_cast<unsigned>(value.size()));
  } else {
    writer.u8(static_cast<unsigned>(value.size()));
  }
  writer.bytes(value);
}

Octets as_path_octets(const AsPath& path, bool four_octets) {
  Octets octets;
  OctetWriter writer(octets);
  for (const AsSegment& segment : path.segments()) {
    writer.u8(static_cast<unsigned>(segment.type))
        .u8(static_cast<unsigned>(segment.numbers.size()));
    for (const AsNumber as : segment.numbers) {
      if (four_octets) {
        writer.u32(as.value);
      } else {
        writer.u16(as.two_octets());
      }
    }
  }
  return octets;
}

bool needs_four_octets(const AsPath& path) {
  for (const AsSegment& segment : path.segments()) {
    for (const AsNumber as : segment.numbers) {
      if (!as.fits_two_octets()) return true;
    }
  }
  return false;
}

Octets aggregator_octets(const Aggregator& aggregator, bool four_octets) {
  Octets octets;
  OctetWriter writer(octets);
  if (four_octets) {
    writer.u32(aggregator.as.value);
  } else {
    writer.u16(aggregator.as.two_octets());
  }
  writer.u32(aggregator.router.value);
  return octets;
}

void put_communities(Octets& to, const PathAttributes& attributes) {
  if (attributes.communities.empty()) return;
  Octets value;
  for (const uint32_t community : attributes.communities) OctetWriter(value).u32(community);
  put_attribute(to, kOptionalTransitive, attribute::kCommunities, value);
}

void put_extended(Octets& to, const PathAttributes& attributes) {
  if (attributes.extended.empty()) return;
  Octets value;
  for (const ExtendedCommunity& community : attributes.extended) {
    OctetWriter(value).bytes(community.octets);
  }
  put_attribute(to, kOptionalTransitive, attribute::kExtendedCommunities, value);
}

}  // namespace

size_t AsPath::length() const {
  size_t length = 0;
  for (const AsSegment& segment : segments_) {
    length += segment.type == AsSegment::Type::kSet ? 1 : segment.numbers.size();
  }
  return length;
}

bool AsPath::contains(AsNumber as) const {
  return std::any_of(segments_.begin(), segments_.end(), [&](const AsSegment& segment) {
    return std::find(segment.numbers.begin(), segment.numbers.end(), as) != segment.numbers.end();
  });
}

std::optional<AsNumber> AsPath::first() const {
  if (empty() || segments_.front().type != AsSegment::Type::kSequence) return std::nullopt;
  return segments_.front().numbers.front();
}

AsPath AsPath::prepended(AsNumber as) const {
  AsPath longer = *this;
  std::vector<AsSegment>& segments = longer.segments_;
  if (segments.empty() || segments.front().type != AsSegment::Type::kSequence ||
      segments.front().numbers.size() == kMaxInSegment) {
    segments.insert(segments.begin(), AsSegment{});
  }
  segments.front().numbers.insert(segments.front().numbers.begin(), as);
  return longer;
}

AsPath AsPath::restored(const AsPath& four_octets) const {
  if (four_octets.length() > length()) return *this;
  // The leading numbers, which speakers of two octets added since, then the true ones.
  size_t leading = length() - four_octets.length();
  std::vector<AsSegment> merged;
  for (const AsSegment& segment : segments_) {
    if (leading == 0) break;
    AsSegment part{segment.type, {}};
    const bool set = segment.type == AsSegment::Type::kSet;
    const size_t take = set ? segment.numbers.size() : std::min(leading, segment.numbers.size());
    part.numbers.assign(segment.numbers.begin(),
                        segment.numbers.begin() + static_cast<std::ptrdiff_t>(take));
    leading -= set ? 1 : take;
    merged.push_back(std::move(part));
  }
  for (const AsSegment& segment : four_octets.segments_) {
    AsSegment* last = merged.empty() ? nullptr : &merged.back();
    if (last != nullptr && last->type == segment.type &&
        segment.type == AsSegment::Type::kSequence &&
        last->numbers.size() + segment.numbers.size() <= kMaxInSegment) {
      last->numbers.insert(last->numbers.end(), segment.numbers.begin(), segment.numbers.end());
    } else {
      merged.push_back(segment);
    }
  }
  return AsPath(std::move(merged));
}

Octets encode_attributes(const PathAttributes& attributes, bool four_octet_as) {
  Octets to;
  const auto origin = static_cast<uint8_t>(attributes.origin);
  put_attribute(to, kWellKnown, attribute::kOrigin, {&origin, 1});
  put_attribute(to, kWellKnown, attribute::kAsPath,
                as_path_octets(attributes.as_path, four_octet_as));
  if (attributes.med) {
    uint8_t med[4];
    store_be(med, *attributes.med);
    put_attribute(to, kFlagOptional, attribute::kMed, med);
  }
  if (attributes.atomic_aggregate) put_attribute(to, kWellKnown, attribute::kAtomicAggregate, {});
  if (attributes.aggregator) {
    put_attribute(to, kOptionalTransitive, attribute::kAggregator,
                  aggregator_octets(*attributes.aggregator, four_octet_as));
  }
  put_communities(to, attributes);
  put_extended(to, attributes);
  if (!four_octet_as && needs_four_octets(attributes.as_path)) {
    put_attribute(to, kOptionalTransitive, attribute::kAs4Path,
                  as_path_octets(attributes.as_path, true));
  }
  if (!four_octet_as && attributes.aggregator && !attributes.aggregator->as.fits_two_octets()) {
    put_attribute(to, kOptionalTransitive, attribute::kAs4Aggregator,
                  aggregator_octets(*attributes.aggregator, true));
  }
  for (const UnknownAttribute& unknown : attributes.unknown) {
    put_attribute(to, unknown.flags, unknown.code, unknown.value);
  }
  return to;
}

}  // namespace mrclab::routing
