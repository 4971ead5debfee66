#include "routing/tcp/tcp_segment.h"

#include <algorithm>
#include <cassert>

namespace mrclab::routing {

namespace {

constexpr uint8_t kFin = 0x01, kSyn = 0x02, kRst = 0x04, kPsh = 0x08, kAck = 0x10;
constexpr uint8_t kOptionEnd = 0, kOptionNone = 1, kOptionMss = 2;
constexpr size_t kMssOptionOctets = 4;
constexpr size_t kChecksumAt = 16;  // in the TCP header
constexpr uint8_t kTcpHopLimit = 255;

uint64_t sum_words(OctetView octets) {
  uint64_t sum = 0;
  size_t i = 0;
  for (; i + 1 < octets.size(); i += 2) sum += load_be<uint16_t>(&octets[i]);
  if (i < octets.size()) sum += uint64_t{octets[i]} << 8;
  return sum;
}

/// False if an option is longer than the header.
bool read_options(OctetView options, TcpSegment& segment) {
  OctetReader reader(options);
  while (!reader.empty()) {
    const uint8_t kind = reader.u8();
    if (kind == kOptionEnd) break;
    if (kind == kOptionNone) continue;
    const uint8_t length = reader.u8();
    if (length < 2) return false;
    OctetReader value(reader.bytes(length - 2u));
    if (kind == kOptionMss && length == kMssOptionOctets) segment.mss = value.u16();
  }
  return !reader.failed();
}

}  // namespace

uint16_t upper_layer_checksum(const TcpAddresses& addresses, uint8_t next_header, OctetView upper) {
  uint64_t sum = sum_words(addresses.source) + sum_words(addresses.destination) + upper.size() +
                 next_header + sum_words(upper);
  while (sum > 0xFFFF) sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<uint16_t>(~sum);
}

Octets make_tcp_packet(const TcpAddresses& addresses, const TcpSegment& segment,
                       uint8_t traffic_class) {
  const size_t options = segment.mss ? kMssOptionOctets : 0;
  const size_t upper = kTcpHeaderOctets + options + segment.payload.size();
  assert(upper <= 0xFFFF);
  Octets packet;
  packet.reserve(kIpv6HeaderOctets + upper);
  OctetWriter writer(packet);
  writer.u32(0x6000'0000u | uint32_t{traffic_class} << 20).u16(static_cast<unsigned>(upper));
  writer.u8(kNextHeaderTcp).u8(kTcpHopLimit).bytes(addresses.source).bytes(addresses.destination);
  writer.u16(segment.source_port).u16(segment.destination_port);
  writer.u32(segment.sequence.value).u32(segment.acknowledged.value);
  const auto words = static_cast<unsigned>((kTcpHeaderOctets + options) / 4);
  writer.u8(words << 4);
  writer.u8((segment.fin ? kFin : 0u) | (segment.syn ? kSyn : 0u) | (segment.rst ? kRst : 0u) |
            (segment.psh ? kPsh : 0u) | (segment.ack ? kAck : 0u));
  writer.u16(segment.window).u16(0).u16(0);
  if (segment.mss) writer.u8(kOptionMss).u8(kMssOptionOctets).u16(*segment.mss);
  writer.bytes(segment.payload);
  const OctetView tcp = OctetView(packet).subspan(kIpv6HeaderOctets);
  writer.patch_u16(kIpv6HeaderOctets + kChecksumAt,
                   upper_layer_checksum(addresses, kNextHeaderTcp, tcp));
  return packet;
}

std::optional<TcpPacket> parse_tcp_packet(OctetView packet) {
  OctetReader ip(packet);
  const uint32_t first = ip.u32();
  const size_t length = ip.u16();
  const uint8_t next_header = ip.u8();
  ip.u8();
  TcpPacket found;
  found.addresses.source = ip.array<16>();
  found.addresses.destination = ip.array<16>();
  const OctetView upper = ip.bytes(length);
  if (ip.failed() || first >> 28 != 6 || next_header != kNextHeaderTcp) return std::nullopt;
  OctetReader reader(upper);
  TcpSegment& segment = found.segment;
  segment.source_port = reader.u16();
  segment.destination_port = reader.u16();
  segment.sequence.value = reader.u32();
  segment.acknowledged.value = reader.u32();
  const size_t header = (reader.u8() >> 4) * 4u;
  const uint8_t flags = reader.u8();
  segment.window = reader.u16();
  reader.u32();  // checksum; urgent data is as any other data
  if (reader.failed() || header < kTcpHeaderOctets || header > upper.size()) return std::nullopt;
  if (upper_layer_checksum(found.addresses, kNextHeaderTcp, upper) != 0) return std::nullopt;
  segment.fin = (flags & kFin) != 0;
  segment.syn = (flags & kSyn) != 0;
  segment.rst = (flags & kRst) != 0;
  segment.psh = (flags & kPsh) != 0;
  segment.ack = (flags & kAck) != 0;
  if (!read_options(reader.bytes(header - kTcpHeaderOctets), segment)) return std::nullopt;
  if (!segment.syn) segment.mss.reset();
  segment.payload = reader.rest();
  return found;
}

}  // namespace mrclab::routing
