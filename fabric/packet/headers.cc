// The parser: what follows what and how long it is. Where fields stand is header_fields.h, names are
// header_names.cc, the writer headers_write.cc, the ICRC icrc.cc.

#include "fabric/packet/headers.h"

#include <algorithm>

#include "fabric/base/byte_order.h"
#include "fabric/packet/header_sizes.h"
#include "fabric/topology/path.h"

namespace mrclab {
namespace {

template <const auto& kTable>
auto decode(const uint8_t* p) {
  typename std::remove_cvref_t<decltype(kTable)>::Decoded header;
  read_header<kTable>(p, header);
  return header;
}

Seth decode_seth(const uint8_t* p) {
  Seth seth = decode<kSethTable>(p);
  read_header<kCcStateTable>(p + kSethTable.bytes(), seth);
  return seth;
}

/// ERTH or EETH: an operation that we do not know is no packet of ours.
template <const auto& kTable>
ParseError decode_endpoint(const uint8_t* p, Extension& extension) {
  const auto header = decode<kTable>(p);
  if (header.op > EndpointOp::kEvProbe) return ParseError::kUnknownOpcode;
  extension = header;
  return ParseError::kNone;
}

/// How many bytes the packet has from its Ethernet header, as its lengths say.
struct Extent {
  FrameLayout at{};
  size_t original = 0;   ///< before a switch trimmed it
  size_t on_wire = 0;    ///< now
  size_t available = 0;  ///< bytes of on_wire that we hold
};

/// An IPv4 header in terms of IPv6 (see MrcPacket::outer).
Ipv6Header as_ipv6(const Ipv4Header& v4) {
  const auto mapped = [](const std::array<uint8_t, 4>& address) {
    Ipv6Address out{};
    out[10] = out[11] = 0xFF;
    std::copy(address.begin(), address.end(), out.begin() + 12);
    return out;
  };
  Ipv6Header out;
  out.traffic_class = v4.traffic_class;
  out.payload_length = static_cast<uint16_t>(v4.total_length - kIpv4Bytes);
  out.next_header = v4.protocol;
  out.hop_limit = v4.hop_limit;
  out.source = mapped(v4.source);
  out.destination = mapped(v4.destination);
  return out;
}

/// The one header of an IPv4 packet.
ParseError parse_ipv4(std::span<const uint8_t> frame, MrcPacket& packet) {
  if (frame.size() < kEthernetBytes + kIpv4Bytes) return ParseError::kTooShort;
  const uint8_t* const ip = &frame[kEthernetBytes];
  if (*ip != 0x45) return ParseError::kBadVersion;  // no options
  Ipv4Header header;
  read_header<kIpv4Table>(ip, header);
  if (ipv4_checksum(ip) != 0) return ParseError::kBadIpChecksum;
  if (header.total_length < kIpv4Bytes) return ParseError::kLengthMismatch;
  packet.encapsulation = Encapsulation::kIpv4;
  packet.inner = as_ipv6(header);
  if (header.protocol != kNextHeaderUdp || (header.fragment & 0x3FFF) != 0) {
    return ParseError::kNotUdp;
  }
  return ParseError::kNone;
}

/// Everything between Ethernet and UDP. packet.outer is set for SRv6 only.
ParseError parse_ip(std::span<const uint8_t> frame, MrcPacket& packet) {
  if (frame.size() < kOuterOffset) return ParseError::kTooShort;
  read_header<kEthernetTable>(frame.data(), packet.ethernet);
  if (packet.ethernet.ethertype == kEthertypeIpv4) return parse_ipv4(frame, packet);
  if (packet.ethernet.ethertype != kEthertypeIpv6) return ParseError::kNotIpv6;
  if (frame.size() < kInnerOffset) return ParseError::kTooShort;
  if (frame[kOuterOffset] >> 4 != 6) return ParseError::kBadVersion;
  read_header<kIpv6Table>(&frame[kOuterOffset], packet.outer);
  if (packet.outer.next_header == kNextHeaderUdp) {
    packet.encapsulation = Encapsulation::kIpv6;
    packet.inner = packet.outer;
    return ParseError::kNone;
  }
  if (packet.outer.next_header != kNextHeaderIpv6) return ParseError::kNotIpInIp;
  if (frame.size() < kAfterBthOffset) return ParseError::kTooShort;
  if (frame[kInnerOffset] >> 4 != 6) return ParseError::kBadVersion;
  read_header<kIpv6Table>(&frame[kInnerOffset], packet.inner);
  return packet.inner.next_header == kNextHeaderUdp ? ParseError::kNone : ParseError::kNotUdp;
}

/// The fixed part: Ethernet, IP, UDP; lengths must agree with one another.
ParseError parse_stack(std::span<const uint8_t> frame, MrcPacket& packet, ParseOptions options,
                       Extent& extent) {
  const ParseError error = parse_ip(frame, packet);
  const bool carried = packet.encapsulation == Encapsulation::kSrv6;
  if (!carried) packet.outer = packet.inner;
  if (error != ParseError::kNone) return error;
  extent.at = layout_of(packet.encapsulation);
  if (frame.size() < extent.at.after_bth) return ParseError::kTooShort;
  read_header<kUdpTable>(&frame[extent.at.udp], packet.udp);
  if (packet.udp.destination_port != kMrcUdpPort &&
      packet.udp.destination_port != kMrcUdpPortAlternate) {
    return ParseError::kNotMrcPort;
  }
  if (packet.encapsulation == Encapsulation::kIpv4) {
    packet.inner.flow_label = flow_label_of(hashed_ev_ipv4(packet.udp.source_port));
    packet.outer.flow_label = packet.inner.flow_label;
  }
  extent.original = extent.at.udp + packet.udp.length;
  extent.on_wire = (carried ? kInnerOffset : extent.at.udp) + packet.outer.payload_length;
  extent.available = std::min(frame.size(), extent.on_wire);
  if ((carried && packet.udp.length != packet.inner.payload_length) ||
      extent.on_wire > extent.original) {
    return ParseError::kLengthMismatch;
  }
  if (extent.on_wire < extent.at.after_bth) return ParseError::kTruncatedHeaders;
  packet.trimmed = extent.on_wire < extent.original;
  packet.cut = frame.size() < extent.on_wire;
  if (packet.cut && !options.allow_cut) return ParseError::kTooShort;
  return ParseError::kNone;
}

/// METH, TSETH, RETH, ImmDt and the payload of a write. A trimmed packet keeps METH and TSETH; what
/// is left of RETH is not offered, since nothing protects it and memory must not be touched by it.
ParseError parse_write(std::span<const uint8_t> frame, const Extent& extent, MrcPacket& packet) {
  const Bth& bth = packet.bth;
  WriteHeaders& write = packet.extension.emplace<WriteHeaders>();
  const size_t early = kMethBytes + (bth.has_tseth ? kTsethBytes : 0);
  const size_t headers = early + kRethBytes + (has_immediate(bth.opcode) ? kImmediateBytes : 0);
  const size_t needed = extent.at.after_bth + (packet.trimmed ? early : headers);
  if (extent.on_wire < needed || extent.available < needed) return ParseError::kTruncatedHeaders;
  if (extent.original < extent.at.after_bth + headers + kIcrcBytes)
    return ParseError::kLengthMismatch;
  const size_t padded = extent.original - extent.at.after_bth - headers - kIcrcBytes;
  if (padded % 4 != 0 || bth.pad > padded) return ParseError::kBadPad;
  packet.payload_length = padded - bth.pad;

  const uint8_t* p = &frame[extent.at.after_bth];
  read_header<kMethTable>(p, write.meth);
  p += kMethBytes;
  if (bth.has_tseth) {
    write.tseth = decode<kTsethTable>(p);
    p += kTsethBytes;
  }
  if (packet.trimmed) return ParseError::kNone;
  write.reth = decode<kRethTable>(p);
  if (has_immediate(bth.opcode)) write.immediate = decode<kImmDtTable>(p + kRethBytes).data;
  const size_t present = std::min(packet.payload_length, extent.available - needed);
  packet.payload = frame.subspan(needed, present);
  return ParseError::kNone;
}

/// RETH, ImmDt and the payload of a request of RC, which no switch trims.
ParseError parse_rc_request(std::span<const uint8_t> frame, const Extent& extent,
                            MrcPacket& packet) {
  const Bth& bth = packet.bth;
  RcHeaders& request = packet.extension.emplace<RcHeaders>();
  const bool reth = !is_send(bth.opcode) && is_first(bth.opcode);
  const size_t headers = rc_extension_bytes(reth, has_immediate(bth.opcode));
  const size_t needed = extent.at.after_bth + headers;
  if (packet.trimmed || extent.original < needed + kIcrcBytes) return ParseError::kLengthMismatch;
  if (extent.available < needed) return ParseError::kTruncatedHeaders;
  const size_t padded = extent.original - needed - kIcrcBytes;
  if (padded % 4 != 0 || bth.pad > padded) return ParseError::kBadPad;
  packet.payload_length = padded - bth.pad;
  const uint8_t* p = &frame[extent.at.after_bth];
  if (reth) {
    request.reth = decode<kRethTable>(p);
    p += kRethBytes;
  }
  if (has_immediate(bth.opcode)) request.immediate = decode<kImmDtTable>(p).data;
  packet.payload =
      frame.subspan(needed, std::min(packet.payload_length, extent.available - needed));
  return ParseError::kNone;
}

/// Everything but writes: one extension header of fixed size, never trimmed, no payload.
ParseError parse_control(std::span<const uint8_t> frame, const Extent& extent, MrcPacket& packet) {
  const size_t size = control_extension_bytes(packet.bth.opcode);
  if (size == 0) return ParseError::kUnknownOpcode;
  if (extent.original != extent.at.after_bth + size + kIcrcBytes || packet.trimmed) {
    return ParseError::kLengthMismatch;
  }
  if (packet.bth.pad != 0) return ParseError::kBadPad;
  if (extent.available < extent.at.after_bth + size) return ParseError::kTruncatedHeaders;
  const uint8_t* p = &frame[extent.at.after_bth];
  switch (packet.bth.opcode) {
    case Opcode::kAcknowledge:
    case Opcode::kRcAcknowledge: packet.extension = decode<kAethTable>(p); break;
    case Opcode::kCongestionNotification: packet.extension = CnpHeader{}; break;
    case Opcode::kSack: packet.extension = decode_seth(p); break;
    case Opcode::kNack: packet.extension = decode<kNethTable>(p); break;
    case Opcode::kProbeRequest: packet.extension = decode<kPethTable>(p); break;
    case Opcode::kEndpointRequest: return decode_endpoint<kErthTable>(p, packet.extension);
    case Opcode::kEndpointResponse: return decode_endpoint<kEethTable>(p, packet.extension);
    default: return ParseError::kUnknownOpcode;
  }
  return ParseError::kNone;
}

}  // namespace

bool is_write(Opcode opcode) {
  return opcode >= Opcode::kWriteFirst && opcode <= Opcode::kWriteOnlyImm;
}

bool is_rc_request(Opcode opcode) { return opcode <= Opcode::kRcWriteOnlyImm; }

bool is_rc(Opcode opcode) {
  return is_rc_request(opcode) || opcode == Opcode::kRcAcknowledge ||
         opcode == Opcode::kCongestionNotification;
}

namespace {

/// InfiniBand specification 9.2.2: the operation's place among FIRST, MIDDLE, LAST, LAST with immediate,
/// ONLY, ONLY with immediate. MRC's writes have the numbers of RC's in their low five bits.
enum Place : uint8_t { kFirst, kMiddle, kLast, kLastImm, kOnly, kOnlyImm };
Place place_in_message(Opcode opcode) {
  return static_cast<Place>((static_cast<uint8_t>(opcode) & 0x1F) % 6);
}

}  // namespace

bool is_send(Opcode opcode) { return opcode <= Opcode::kSendOnlyImm; }

bool has_immediate(Opcode opcode) {
  const Place place = place_in_message(opcode);
  return place == kLastImm || place == kOnlyImm;
}

bool is_first(Opcode opcode) {
  const Place place = place_in_message(opcode);
  return place == kFirst || place >= kOnly;
}

bool is_last(Opcode opcode) { return place_in_message(opcode) >= kLast; }

EntropyValue MrcPacket::entropy() const { return entropy_from(udp.source_port, inner.flow_label); }

EntropyValue MrcPacket::entropy_to_reflect() const {
  return encapsulation == Encapsulation::kIpv4 ? EntropyValue{udp.source_port} : entropy();
}

ParseError parse_mrc_frame(std::span<const uint8_t> frame, MrcPacket& packet,
                           ParseOptions options) {
  packet = MrcPacket{};
  Extent extent;
  const ParseError error = parse_stack(frame, packet, options, extent);
  if (error != ParseError::kNone) return error;
  read_header<kBthTable>(&frame[extent.at.bth], packet.bth);
  if (is_write(packet.bth.opcode)) return parse_write(frame, extent, packet);
  // The bits that MRC has defined in BTH are reserved in RC's and are not looked at.
  if (is_rc(packet.bth.opcode)) packet.bth.retransmission = packet.bth.has_tseth = false;
  if (is_rc_request(packet.bth.opcode)) return parse_rc_request(frame, extent, packet);
  return parse_control(frame, extent, packet);
}

std::optional<Encapsulation> encapsulation_of(std::span<const uint8_t> frame) {
  constexpr size_t kNextHeader = 6, kProtocol = 9, kFragment = 6;  // RFC 8200 §3, RFC 791 §3.1
  const auto whole = [frame](Encapsulation kind) {
    return frame.size() >= layout_of(kind).bth ? std::optional(kind) : std::nullopt;
  };
  if (frame.size() < kEthernetBytes + kIpv4Bytes) return std::nullopt;
  const uint8_t* const ip = &frame[kEthernetBytes];
  const uint16_t ethertype = load_be<uint16_t>(&frame[kEthernetBytes - 2]);
  if (ethertype == kEthertypeIpv4) {
    if (*ip != 0x45 || ip[kProtocol] != kNextHeaderUdp ||
        (load_be<uint16_t>(ip + kFragment) & 0x3FFF) != 0) {
      return std::nullopt;
    }
    return whole(Encapsulation::kIpv4);
  }
  if (ethertype != kEthertypeIpv6 || *ip >> 4 != 6) return std::nullopt;
  if (ip[kNextHeader] == kNextHeaderUdp) return whole(Encapsulation::kIpv6);
  if (ip[kNextHeader] != kNextHeaderIpv6 || frame.size() < kUdpOffset ||
      frame[kInnerOffset] >> 4 != 6 || frame[kInnerOffset + kNextHeader] != kNextHeaderUdp) {
    return std::nullopt;
  }
  return whole(Encapsulation::kSrv6);
}

uint16_t ipv4_checksum(const uint8_t* header) {
  uint32_t sum = 0;
  for (size_t i = 0; i < kIpv4Bytes; i += 2) sum += load_be<uint16_t>(header + i);
  sum = (sum & 0xFFFF) + (sum >> 16);
  sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<uint16_t>(~sum);
}

std::optional<Ipv6Header> parse_ipv6(std::span<const uint8_t> bytes) {
  if (bytes.size() < kIpv6Bytes || bytes[0] >> 4 != 6) return std::nullopt;
  return decode<kIpv6Table>(bytes.data());
}

uint16_t source_port_of(EntropyValue ev) { return static_cast<uint16_t>(ev.value); }

uint32_t flow_label_of(EntropyValue ev) { return ev.value >> 16; }

EntropyValue entropy_of_ipv4(std::span<const uint8_t> frame) {
  return hashed_ev_ipv4(load_be<uint16_t>(&frame[layout_of(Encapsulation::kIpv4).udp]));
}

}  // namespace mrclab
