#pragma once
// A TCP segment in an IPv6 packet (RFC 9293 section 3.1, RFC 8200 section 8.1), written and read.

#include <optional>

#include "fabric/topology/topology.h"
#include "routing/base/octets.h"

namespace mrclab::routing {

inline constexpr uint16_t kBgpPort = 179;
inline constexpr uint8_t kNextHeaderTcp = 6;
inline constexpr size_t kIpv6HeaderOctets = 40, kTcpHeaderOctets = 20;

/// A place in the stream: 32 bits, serial arithmetic.
struct TcpSequence {
  uint32_t value = 0;
  constexpr bool operator==(const TcpSequence&) const = default;
  constexpr TcpSequence operator+(size_t n) const { return {value + static_cast<uint32_t>(n)}; }
  /// How far this is behind `other`; negative if it is before it.
  constexpr int32_t operator-(TcpSequence other) const {
    return static_cast<int32_t>(value - other.value);
  }
  constexpr bool before(TcpSequence other) const { return *this - other < 0; }
};

/// `payload` points into the packet, or to what is to be sent.
struct TcpSegment {
  uint16_t source_port = 0, destination_port = 0;
  TcpSequence sequence, acknowledged;
  bool syn = false, ack = false, fin = false, rst = false, psh = false;
  uint16_t window = 0;
  std::optional<uint16_t> mss;  ///< with SYN only
  OctetView payload;

  /// Places of the stream that it takes.
  size_t length() const { return payload.size() + (syn ? 1 : 0) + (fin ? 1 : 0); }
};

struct TcpAddresses {
  Ipv6Address source{}, destination{};
};

/// The whole IPv6 packet. Hop limit 255, so that a peer can check that a neighbour sent it (RFC 5082).
Octets make_tcp_packet(const TcpAddresses& addresses, const TcpSegment& segment,
                       uint8_t traffic_class);

struct TcpPacket {
  TcpAddresses addresses;
  TcpSegment segment;
};
/// nullopt for what is no TCP in IPv6, is cut short or has a wrong checksum. Octets beyond the length of the
/// IPv6 header are padding.
std::optional<TcpPacket> parse_tcp_packet(OctetView packet);

/// The Internet checksum over pseudo-header and `upper` (RFC 8200 section 8.1); 0 if the one in it is right.
uint16_t upper_layer_checksum(const TcpAddresses& addresses, uint8_t next_header, OctetView upper);

}  // namespace mrclab::routing
