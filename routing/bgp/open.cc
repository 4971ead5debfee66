#include "routing/bgp/open.h"

namespace mrclab::routing {

namespace {

constexpr uint8_t kParameterCapabilities = 2;
constexpr uint8_t kExtendedParameters = 255;  // RFC 9072
constexpr uint8_t kCapMultiprotocol = 1, kCapRouteRefresh = 2, kCapOrf = 3, kCapFourOctetAs = 65,
                  kCapEnhancedRefresh = 70;
constexpr uint8_t kFamilyOctets[] = {0, kAfiIpv6, 0, kSafiUnicast};

Notification open_error(uint8_t subcode, Octets data = {}) {
  return {ErrorCode::kOpen, subcode, std::move(data)};
}

void put_capability(OctetWriter& writer, uint8_t code, OctetView value) {
  writer.u8(code).u8(static_cast<unsigned>(value.size())).bytes(value);
}

/// Capability 3: blocks of one address family each (RFC 5291 section 5). False if it is cut short.
bool read_orf(OctetView value, Capabilities& into) {
  OctetReader reader(value);
  while (!reader.empty()) {
    const uint16_t afi = reader.u16();
    reader.u8();
    const uint8_t safi = reader.u8();
    for (unsigned left = reader.u8(); left > 0 && !reader.failed(); --left) {
      const uint8_t type = reader.u8();
      const uint8_t role = reader.u8();
      if (afi != kAfiIpv6 || safi != kSafiUnicast || type != kOrfPrefix) continue;
      into.prefix_orf = role >= kOrfReceives && role <= kOrfBoth ? role : uint8_t{kOrfNone};
    }
  }
  return !reader.failed();
}

bool read_capability(uint8_t code, OctetView value, Capabilities& into) {
  OctetReader reader(value);
  switch (code) {
    case kCapMultiprotocol: {
      const uint16_t afi = reader.u16();
      reader.u8();
      const uint8_t safi = reader.u8();
      if (!reader.done()) return false;
      into.ipv6_unicast |= afi == kAfiIpv6 && safi == kSafiUnicast;
      return true;
    }
    case kCapRouteRefresh: into.route_refresh = true; return value.empty();
    case kCapEnhancedRefresh: into.enhanced_refresh = true; return value.empty();
    case kCapOrf: return read_orf(value, into);
    case kCapFourOctetAs: into.four_octet_as = AsNumber{reader.u32()}; return reader.done();
    default: return true;
  }
}

bool read_capabilities(OctetView value, Capabilities& into) {
  OctetReader reader(value);
  while (!reader.empty()) {
    const uint8_t code = reader.u8();
    const OctetView inside = reader.bytes(reader.u8());
    if (reader.failed() || !read_capability(code, inside, into)) return false;
  }
  return true;
}

/// The optional parameters, in the short form or in RFC 9072's.
std::optional<Notification> read_parameters(OctetReader& reader, Capabilities& into) {
  size_t length = reader.u8();
  const bool extended = length != 0 && !reader.empty() && reader.rest()[0] == kExtendedParameters;
  if (extended) {
    reader.u8();
    length = reader.u16();
  }
  if (reader.failed() || length != reader.rest().size()) return open_error(0);
  while (!reader.empty()) {
    const uint8_t type = reader.u8();
    const size_t size = extended ? reader.u16() : reader.u8();
    const OctetView value = reader.bytes(size);
    if (reader.failed()) return open_error(0);
    if (type != kParameterCapabilities) return open_error(4);
    if (!read_capabilities(value, into)) return open_error(0);
  }
  return std::nullopt;
}

}  // namespace

Octets encode_open(const OpenMessage& open) {
  Octets message;
  const size_t at = begin_message(message, MessageType::kOpen);
  OctetWriter writer(message);
  writer.u8(kBgpVersion).u16(open.as.two_octets()).u16(open.hold_time).u32(open.router.value);
  const size_t parameters_at = message.size();
  writer.u8(0);
  const size_t list_at = message.size() + 1;
  writer.u8(kParameterCapabilities).u8(0);
  const Capabilities& caps = open.capabilities;
  if (caps.ipv6_unicast) put_capability(writer, kCapMultiprotocol, kFamilyOctets);
  if (caps.route_refresh) put_capability(writer, kCapRouteRefresh, {});
  if (caps.prefix_orf != kOrfNone) {
    const uint8_t orf[] = {0, kAfiIpv6, 0, kSafiUnicast, 1, kOrfPrefix, caps.prefix_orf};
    put_capability(writer, kCapOrf, orf);
  }
  if (caps.four_octet_as) {
    uint8_t as[4];
    store_be(as, caps.four_octet_as->value);
    put_capability(writer, kCapFourOctetAs, as);
  }
  if (caps.enhanced_refresh) put_capability(writer, kCapEnhancedRefresh, {});
  writer.close_u8(list_at);
  if (message.size() == list_at + 1) message.resize(parameters_at + 1);  // no empty parameter
  writer.close_u8(parameters_at);
  finish_message(message, at);
  return message;
}

std::variant<OpenMessage, Notification> decode_open(OctetView body,
                                                    const OpenExpectation& expected) {
  OctetReader reader(body);
  const uint8_t version = reader.u8();
  if (version != kBgpVersion) return open_error(1, {0, kBgpVersion});
  OpenMessage open;
  open.as = AsNumber{reader.u16()};
  open.hold_time = reader.u16();
  open.router = RouterId{reader.u32()};
  if (const auto wrong = read_parameters(reader, open.capabilities)) return *wrong;
  if (const auto& four = open.capabilities.four_octet_as) {
    // The short field is AS_TRANS then, or the low numbers that fit (RFC 6793 section 3).
    if (open.as.value != four->two_octets()) return open_error(2);
    open.as = *four;
  }
  if (open.as.value == 0 || open.as == expected.own_as) return open_error(2);
  if (expected.peer_as && open.as != *expected.peer_as) return open_error(2);
  if (open.router.value == 0 || open.router == expected.own_router) return open_error(3);
  if (open.hold_time == 1 || open.hold_time == 2) return open_error(6);
  if (!open.capabilities.ipv6_unicast) {
    return open_error(7, {kCapMultiprotocol, 4, 0, kAfiIpv6, 0, kSafiUnicast});
  }
  return open;
}

}  // namespace mrclab::routing
