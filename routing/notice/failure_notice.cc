#include "routing/notice/failure_notice.h"

#include <cassert>

#include "fabric/topology/dscp.h"

namespace mrclab::routing {

namespace {

constexpr uint8_t kNoticeNextHeader = 17;
constexpr uint8_t kNoticeHopLimit = 255;
constexpr size_t kNoticeUdpOctets = 8, kUdpChecksumAt = kIpv6HeaderOctets + 6;
constexpr uint8_t kNoticeVersion = 1, kAllIsLost = 255, kHasPrefixes = 0x80;

/// What stands in front of the notice.
struct NoticePacket {
  TcpAddresses addresses;
  uint8_t hop_limit = 0;
  uint16_t port = 0;
  OctetView upper;  ///< with the UDP header
};

std::optional<NoticePacket> udp_of(OctetView packet) {
  OctetReader ip(packet);
  NoticePacket found;
  const uint32_t first = ip.u32();
  const size_t length = ip.u16();
  const uint8_t next_header = ip.u8();
  found.hop_limit = ip.u8();
  found.addresses.source = ip.array<16>();
  found.addresses.destination = ip.array<16>();
  found.upper = ip.bytes(length);
  OctetReader udp(found.upper);
  udp.u16();
  found.port = udp.u16();
  udp.u32();
  if (ip.failed() || udp.failed() || first >> 28 != 6 || next_header != kNoticeNextHeader) {
    return std::nullopt;
  }
  return found;
}

std::optional<FailureNotice> read_notice(OctetView octets) {
  OctetReader reader(octets);
  FailureNotice notice;
  notice.type = static_cast<FailureNotice::Type>(reader.u8());
  const bool known_type =
      notice.type == FailureNotice::Type::kFailed || notice.type == FailureNotice::Type::kRestored;
  const uint8_t version = reader.u8() >> 4;
  reader.u8();  // the metric: a prefix is lost or it is not
  const uint8_t parameters = reader.u8();
  notice.sequence = reader.u32();
  const size_t count = reader.u8();
  if (!known_type || version != kNoticeVersion || parameters != kHasPrefixes || count == 0 ||
      count > kMostNoticed) {
    return std::nullopt;
  }
  for (size_t i = 0; i < count; ++i) {
    const uint8_t length = reader.u8();
    const auto address = reader.array<16>();
    if (reader.failed() || length > Prefix::kMaxLength) return std::nullopt;
    notice.prefixes.emplace_back(address, length);
  }
  if (!reader.done()) return std::nullopt;
  return notice;
}

}  // namespace

Octets make_notice_packet(const TcpAddresses& addresses, const FailureNotice& notice) {
  assert(!notice.prefixes.empty() && notice.prefixes.size() <= kMostNoticed);
  Octets packet;
  OctetWriter writer(packet);
  writer.u32(0x6000'0000u | uint32_t{kDscpRouting} << 22);
  writer.u16(0).u8(kNoticeNextHeader).u8(kNoticeHopLimit);
  writer.bytes(addresses.source).bytes(addresses.destination);
  writer.u16(kNoticePort).u16(kNoticePort).u16(0).u16(0);
  writer.u8(static_cast<unsigned>(notice.type))
      .u8(kNoticeVersion << 4)
      .u8(kAllIsLost)
      .u8(kHasPrefixes);
  writer.u32(notice.sequence).u8(static_cast<unsigned>(notice.prefixes.size()));
  for (const Prefix& prefix : notice.prefixes) writer.u8(prefix.length()).bytes(prefix.address());
  const size_t upper = packet.size() - kIpv6HeaderOctets;
  writer.patch_u16(4, upper);
  writer.patch_u16(kIpv6HeaderOctets + 4, upper);
  const uint16_t sum = upper_layer_checksum(addresses, kNoticeNextHeader,
                                            OctetView(packet).subspan(kIpv6HeaderOctets));
  writer.patch_u16(kUdpChecksumAt, sum == 0 ? 0xFFFF : sum);
  return packet;
}

bool is_notice_packet(OctetView packet) {
  const auto udp = udp_of(packet);
  return udp && udp->port == kNoticePort;
}

std::optional<FailureNotice> parse_notice_packet(OctetView packet, const TcpAddresses& addresses) {
  const auto udp = udp_of(packet);
  if (!udp || udp->port != kNoticePort || udp->hop_limit != kNoticeHopLimit ||
      udp->addresses.source != addresses.source ||
      udp->addresses.destination != addresses.destination ||
      upper_layer_checksum(addresses, kNoticeNextHeader, udp->upper) != 0) {
    return std::nullopt;
  }
  return read_notice(udp->upper.subspan(kNoticeUdpOctets));
}

}  // namespace mrclab::routing
