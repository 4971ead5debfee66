#include <cassert>

#include "routing/bgp/open.h"
#include "routing/bgp/update.h"

namespace mrclab::routing {

namespace {

constexpr size_t kMaxPrefixOctets = 1 + sizeof(Ipv6Address);

void put_prefix(OctetWriter& writer, const Prefix& prefix) {
  writer.u8(prefix.length()).bytes(OctetView(prefix.address()).first(prefix.octets()));
}

/// Opens an UPDATE up to the value of its first attribute, which has a long length.
struct OpenUpdate {
  explicit OpenUpdate(Octets& to, uint8_t code) : writer(to) {
    begun_at = begin_message(to, MessageType::kUpdate);
    writer.u16(0);
    attributes_at = to.size();
    writer.u16(0).u8(kFlagOptional | kFlagExtendedLength).u8(code);
    value_at = to.size();
    writer.u16(0).u16(kAfiIpv6).u8(kSafiUnicast);
  }
  void finish(Octets& to, OctetView more_attributes) {
    writer.close_u16(value_at);
    writer.bytes(more_attributes);
    writer.close_u16(attributes_at);
    finish_message(to, begun_at);
  }
  OctetWriter writer;
  size_t begun_at = 0, attributes_at = 0, value_at = 0;
};

}  // namespace

void encode_announcements(std::vector<Octets>& to, OctetView attributes,
                          const Ipv6Address& next_hop, std::span<const Prefix> prefixes) {
  assert(attributes.size() <= kMaxAttributeOctets);
  for (size_t next = 0; next < prefixes.size();) {
    Octets message;
    OpenUpdate update(message, attribute::kMpReach);
    update.writer.u8(sizeof next_hop).bytes(next_hop).u8(0);
    const size_t room = kMaxBgpMessage - attributes.size() - kMaxPrefixOctets;
    while (next < prefixes.size() && message.size() <= room) {
      put_prefix(update.writer, prefixes[next++]);
    }
    update.finish(message, attributes);
    to.push_back(std::move(message));
  }
}

void encode_withdrawals(std::vector<Octets>& to, std::span<const Prefix> prefixes) {
  for (size_t next = 0; next < prefixes.size();) {
    Octets message;
    OpenUpdate update(message, attribute::kMpUnreach);
    while (next < prefixes.size() && message.size() <= kMaxBgpMessage - kMaxPrefixOctets) {
      put_prefix(update.writer, prefixes[next++]);
    }
    update.finish(message, {});
    to.push_back(std::move(message));
  }
}

Octets encode_end_of_rib() {
  Octets message;
  OpenUpdate update(message, attribute::kMpUnreach);
  update.finish(message, {});
  return message;
}

}  // namespace mrclab::routing
