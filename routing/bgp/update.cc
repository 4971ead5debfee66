#include "routing/bgp/update.h"

#include <algorithm>
#include <bitset>

#include "routing/bgp/open.h"

namespace mrclab::routing {

namespace {

Notification update_error(uint8_t subcode, Octets data = {}) {
  return {ErrorCode::kUpdate, subcode, std::move(data)};
}

/// Prefixes to the end of `octets`; false if one is longer than its address or cut short.
bool read_prefixes(OctetView octets, std::vector<Prefix>& to) {
  OctetReader reader(octets);
  while (!reader.empty()) {
    const uint8_t length = reader.u8();
    if (length > Prefix::kMaxLength) return false;
    Ipv6Address address{};
    const OctetView significant = reader.bytes((length + 7u) / 8);
    if (reader.failed()) return false;
    std::copy(significant.begin(), significant.end(), address.begin());
    to.emplace_back(address, length);
  }
  return true;
}

/// The syntax of IPv4 prefixes in the fields of RFC 4271; their values are not used.
bool ipv4_prefixes_fit(OctetView octets) {
  OctetReader reader(octets);
  while (!reader.empty()) {
    const uint8_t length = reader.u8();
    if (length > 32) return false;
    reader.bytes((length + 7u) / 8);
  }
  return !reader.failed();
}

/// RFC 4271 section 6.3: no host can be there.
bool is_no_next_hop(const Ipv6Address& address) {
  constexpr uint8_t kMulticast = 0xFF;
  const bool low =
      std::all_of(address.begin(), address.end() - 1, [](uint8_t o) { return o == 0; });
  return address[0] == kMulticast || (low && address.back() <= 1);
}

/// Reads one UPDATE; the members are what has been seen so far.
class UpdateReader {
 public:
  explicit UpdateReader(const UpdateContext& context) : context_(context) {}

  std::variant<Update, Notification> read(OctetView body);

 private:
  void read_attributes(OctetView octets);
  void read_attribute(uint8_t flags, uint8_t code, OctetView value);
  void read_known(const AttributeRule& rule, OctetView value);
  void read_unknown(uint8_t flags, uint8_t code, OctetView value);
  bool read_as_path(OctetView value, bool four_octets, AsPath& to);
  void read_mp_reach(OctetView value);
  void read_mp_unreach(OctetView value);
  void complete_paths();
  void fault(uint8_t code, ErrorAction action, uint8_t subcode, std::string reason);
  void fault(const AttributeRule& rule, std::string reason) {
    fault(rule.code, rule.if_wrong, rule.subcode, std::string(rule.name) + ": " + reason);
  }

  const UpdateContext& context_;
  Update update_;
  PathAttributes attributes_;
  AsPath as4_path_;
  std::bitset<256> seen_;
  bool ipv4_routes_ = false;
  bool other_family_ = false;
  ErrorAction strongest_ = ErrorAction::kNone;
  Notification answer_;  ///< of the strongest
};

void UpdateReader::fault(uint8_t code, ErrorAction action, uint8_t subcode, std::string reason) {
  if (action > strongest_) {
    strongest_ = action;
    answer_ = update_error(subcode);
  }
  update_.faults.push_back({code, action, std::move(reason)});
}

bool UpdateReader::read_as_path(OctetView value, bool four_octets, AsPath& to) {
  OctetReader reader(value);
  std::vector<AsSegment> segments;
  size_t numbers = 0;
  while (!reader.empty()) {
    const uint8_t type = reader.u8();
    const uint8_t count = reader.u8();
    // Confederations (types 3 and 4) stay inside of themselves (RFC 5065 section 5).
    if ((type != 1 && type != 2) || count == 0) return false;
    AsSegment segment{static_cast<AsSegment::Type>(type), {}};
    for (unsigned i = 0; i < count && !reader.failed(); ++i) {
      segment.numbers.push_back({four_octets ? reader.u32() : reader.u16()});
      if (segment.numbers.back().value == 0) return false;  // RFC 7607
    }
    numbers += count;
    segments.push_back(std::move(segment));
  }
  if (reader.failed() || numbers > AsPath::kMaxNumbers) return false;
  to = AsPath(std::move(segments));
  return true;
}

void UpdateReader::read_mp_reach(OctetView value) {
  const AttributeRule& rule = *rule_of(attribute::kMpReach);
  OctetReader reader(value);
  const uint16_t afi = reader.u16();
  const uint8_t safi = reader.u8();
  const OctetView next_hop = reader.bytes(reader.u8());
  reader.u8();
  if (reader.failed()) return fault(rule, "cut short");
  if (afi != kAfiIpv6 || safi != kSafiUnicast) {
    other_family_ = true;
    return;
  }
  constexpr size_t kOne = sizeof(Ipv6Address);
  if (next_hop.size() != kOne && next_hop.size() != 2 * kOne) {
    return fault(rule, "next hop of " + std::to_string(next_hop.size()) + " octets");
  }
  std::copy_n(next_hop.begin(), kOne, attributes_.next_hop.begin());
  if (!read_prefixes(reader.rest(), update_.announced)) return fault(rule, "broken prefix");
  if (is_no_next_hop(attributes_.next_hop)) {
    fault(rule.code, ErrorAction::kTreatAsWithdraw, 8, "MP_REACH_NLRI: next hop of no host");
  }
}

void UpdateReader::read_mp_unreach(OctetView value) {
  const AttributeRule& rule = *rule_of(attribute::kMpUnreach);
  OctetReader reader(value);
  const uint16_t afi = reader.u16();
  const uint8_t safi = reader.u8();
  if (afi != kAfiIpv6 || safi != kSafiUnicast) return;
  if (!read_prefixes(reader.rest(), update_.withdrawn)) return fault(rule, "broken prefix");
  update_.end_of_rib = reader.rest().empty();
}

void UpdateReader::read_known(const AttributeRule& rule, OctetView value) {
  OctetReader reader(value);
  switch (rule.code) {
    case attribute::kOrigin:
      if (value[0] > 2) return fault(rule, "value " + std::to_string(value[0]));
      attributes_.origin = static_cast<Origin>(value[0]);
      return;
    case attribute::kAsPath:
      if (!read_as_path(value, context_.four_octet_as, attributes_.as_path)) {
        return fault(rule, "malformed");
      }
      if (attributes_.as_path.first() != context_.peer_as)
        fault(rule, "does not begin with the peer");
      return;
    case attribute::kMed: attributes_.med = reader.u32(); return;
    case attribute::kAtomicAggregate: attributes_.atomic_aggregate = true; return;
    case attribute::kAggregator: {
      const size_t wanted = context_.four_octet_as ? 8 : 6;
      if (value.size() != wanted) return fault(rule, "length " + std::to_string(value.size()));
      const AsNumber as{context_.four_octet_as ? reader.u32() : reader.u16()};
      attributes_.aggregator = Aggregator{as, RouterId{reader.u32()}};
      return;
    }
    case attribute::kCommunities:
      while (!reader.empty()) attributes_.communities.push_back(reader.u32());
      return;
    case attribute::kExtendedCommunities:
      while (!reader.empty()) attributes_.extended.push_back({reader.array<8>()});
      return;
    case attribute::kAs4Path:
      if (context_.four_octet_as) return fault(rule, "from a speaker of four octets");
      if (!read_as_path(value, true, as4_path_)) fault(rule, "malformed");
      return;
    case attribute::kMpReach: return read_mp_reach(value);
    case attribute::kMpUnreach: return read_mp_unreach(value);
    // NEXT_HOP is of IPv4 routes. The others mean nothing between external peers.
    default: return;
  }
}

void UpdateReader::read_unknown(uint8_t flags, uint8_t code, OctetView value) {
  if ((flags & kFlagOptional) == 0) {
    return fault(code, ErrorAction::kTreatAsWithdraw, 2,
                 "unrecognized well-known attribute " + std::to_string(code));
  }
  if ((flags & kFlagTransitive) == 0) return;
  const auto kept = static_cast<uint8_t>(kFlagOptional | kFlagTransitive | kFlagPartial);
  attributes_.unknown.push_back({kept, code, Octets(value.begin(), value.end())});
}

void UpdateReader::read_attribute(uint8_t flags, uint8_t code, OctetView value) {
  if (seen_[code]) {
    if (code == attribute::kMpReach || code == attribute::kMpUnreach) {
      return fault(code, ErrorAction::kResetSession, 1, "MP attribute twice");
    }
    return fault(code, ErrorAction::kDiscardAttribute, 1, "attribute twice");
  }
  seen_.set(code);
  const AttributeRule* rule = rule_of(code);
  if (rule == nullptr) return read_unknown(flags, code, value);
  constexpr uint8_t kKind = kFlagOptional | kFlagTransitive;
  if ((flags & kKind) != rule->flags) return fault(*rule, "wrong flags");
  if (!length_fits(*rule, value.size())) {
    return fault(*rule, "length " + std::to_string(value.size()));
  }
  read_known(*rule, value);
}

void UpdateReader::read_attributes(OctetView octets) {
  OctetReader reader(octets);
  while (!reader.empty()) {
    const uint8_t flags = reader.u8();
    const uint8_t code = reader.u8();
    const size_t length = (flags & kFlagExtendedLength) != 0 ? reader.u16() : reader.u8();
    const OctetView value = reader.bytes(length);
    if (reader.failed()) {
      return fault(0, ErrorAction::kTreatAsWithdraw, 1, "attributes beyond their total length");
    }
    read_attribute(flags, code, value);
  }
}

/// What must be there, and the withdrawal of what is not right.
void UpdateReader::complete_paths() {
  for (const uint8_t code : {attribute::kOrigin, attribute::kAsPath}) {
    if (update_.announced.empty() || seen_[code]) continue;
    fault(code, ErrorAction::kTreatAsWithdraw, 3, std::string(rule_of(code)->name) + ": missing");
  }
  if (strongest_ == ErrorAction::kTreatAsWithdraw) {
    update_.withdrawn.insert(update_.withdrawn.end(), update_.announced.begin(),
                             update_.announced.end());
    update_.announced.clear();
  }
  if (update_.announced.empty()) return;
  if (!context_.four_octet_as && !as4_path_.empty()) {
    attributes_.as_path = attributes_.as_path.restored(as4_path_);
  }
  update_.attributes = std::make_shared<const PathAttributes>(std::move(attributes_));
}

std::variant<Update, Notification> UpdateReader::read(OctetView body) {
  OctetReader reader(body);
  const OctetView ipv4_withdrawn = reader.bytes(reader.u16());
  const OctetView attributes = reader.bytes(reader.u16());
  if (reader.failed()) return update_error(1);
  if (!ipv4_prefixes_fit(ipv4_withdrawn) || !ipv4_prefixes_fit(reader.rest())) {
    return update_error(10);
  }
  ipv4_routes_ = !reader.rest().empty();
  read_attributes(attributes);
  const bool reachable = !update_.announced.empty() || ipv4_routes_ || other_family_;
  // A withdrawal needs routes: without any there is nothing to withdraw (RFC 7606 section 5.2).
  if (strongest_ == ErrorAction::kResetSession ||
      (strongest_ == ErrorAction::kTreatAsWithdraw && !reachable)) {
    return answer_;
  }
  complete_paths();
  update_.end_of_rib &= update_.announced.empty() && update_.withdrawn.empty();
  return std::move(update_);
}

}  // namespace

std::variant<Update, Notification> decode_update(OctetView body, const UpdateContext& context) {
  return UpdateReader(context).read(body);
}

}  // namespace mrclab::routing
