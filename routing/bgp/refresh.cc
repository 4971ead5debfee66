#include "routing/bgp/refresh.h"

#include <algorithm>
#include <cassert>

#include "routing/bgp/open.h"

namespace mrclab::routing {

namespace {

constexpr unsigned kActionShift = 6;
constexpr uint8_t kMatchDeny = 0x20;
constexpr uint8_t kFrrRemoveAll = 3;  // see refresh.h

void put_entry(OctetWriter& writer, const OrfEntry& entry) {
  const unsigned action = static_cast<unsigned>(entry.action) << kActionShift;
  if (entry.action == OrfEntry::Action::kRemoveAll) {
    writer.u8(action);
    return;
  }
  writer.u8(action | (entry.permit ? 0u : kMatchDeny)).u32(entry.sequence);
  writer.u8(entry.min_length).u8(entry.max_length).u8(entry.prefix.length());
  writer.bytes(OctetView(entry.prefix.address()).first(entry.prefix.octets()));
}

/// RFC 5292 section 3: Length < Minlen <= Maxlen, where they are given.
bool lengths_make_sense(const OrfEntry& entry) {
  const uint8_t length = entry.prefix.length();
  if (entry.min_length > Prefix::kMaxLength || entry.max_length > Prefix::kMaxLength) return false;
  if (entry.min_length != 0 && entry.min_length <= length) return false;
  return entry.max_length == 0 ||
         (entry.max_length > length && entry.max_length >= entry.min_length);
}

std::optional<OrfEntry> read_entry(OctetReader& reader) {
  OrfEntry entry;
  const uint8_t first = reader.u8();
  const unsigned action = first >> kActionShift;
  if (action >= static_cast<unsigned>(OrfEntry::Action::kRemoveAll)) {
    static_assert(kFrrRemoveAll == 3);
    entry.action = OrfEntry::Action::kRemoveAll;
    return reader.failed() ? std::nullopt : std::optional(entry);
  }
  entry.action = static_cast<OrfEntry::Action>(action);
  entry.permit = (first & kMatchDeny) == 0;
  entry.sequence = reader.u32();
  entry.min_length = reader.u8();
  entry.max_length = reader.u8();
  const uint8_t length = reader.u8();
  if (length > Prefix::kMaxLength) return std::nullopt;
  const OctetView significant = reader.bytes((length + 7u) / 8);
  if (reader.failed()) return std::nullopt;
  Ipv6Address address{};
  std::copy(significant.begin(), significant.end(), address.begin());
  entry.prefix = Prefix(address, length);
  if (!lengths_make_sense(entry)) return std::nullopt;
  return entry;
}

/// The entries of type 64 in `octets`. False: they are broken.
bool read_entries(OctetView octets, std::vector<OrfEntry>& to) {
  OctetReader reader(octets);
  while (!reader.empty()) {
    const auto entry = read_entry(reader);
    if (!entry) return false;
    to.push_back(*entry);
  }
  return true;
}

}  // namespace

Octets encode_refresh(const RouteRefresh& refresh) {
  assert(refresh.entries.size() <= kMaxOrfEntries);
  Octets message;
  const size_t at = begin_message(message, MessageType::kRouteRefresh);
  OctetWriter writer(message);
  writer.u16(refresh.afi).u8(static_cast<unsigned>(refresh.kind)).u8(refresh.safi);
  if (refresh.when) {
    writer.u8(static_cast<unsigned>(*refresh.when)).u8(kOrfPrefix);
    const size_t length_at = message.size();
    writer.u16(0);
    for (const OrfEntry& entry : refresh.entries) put_entry(writer, entry);
    writer.close_u16(length_at);
  }
  finish_message(message, at);
  return message;
}

std::variant<RouteRefresh, Notification> decode_refresh(OctetView body) {
  OctetReader reader(body);
  RouteRefresh refresh;
  refresh.afi = reader.u16();
  const uint8_t kind = reader.u8();
  refresh.safi = reader.u8();
  const Notification wrong_length{ErrorCode::kRouteRefresh, 1, {}};
  if (reader.failed()) return wrong_length;
  // RFC 2918 ignores the octet, RFC 7313 gave it two values.
  refresh.kind =
      kind == 1 || kind == 2 ? static_cast<RouteRefresh::Kind>(kind) : RouteRefresh::Kind::kRequest;
  if (reader.empty()) return refresh;
  const uint8_t when = reader.u8();
  refresh.when = when == 2 ? RouteRefresh::When::kDefer : RouteRefresh::When::kImmediate;
  while (!reader.empty()) {
    const uint8_t type = reader.u8();
    const OctetView entries = reader.bytes(reader.u16());
    if (reader.failed()) return wrong_length;
    if (type != kOrfPrefix) continue;
    if (!read_entries(entries, refresh.entries)) {
      refresh.entries.assign(1, {OrfEntry::Action::kRemoveAll, true, 0, 0, 0, {}});
      break;
    }
  }
  return refresh;
}

}  // namespace mrclab::routing
