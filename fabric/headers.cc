// Names, single headers and the parser. The writer is headers_write.cc, the ICRC icrc.cc.

#include "fabric/headers.h"

#include <algorithm>

#include "fabric/byte_order.h"
#include "fabric/header_sizes.h"

namespace mrclab {
namespace {

uint8_t bits(uint8_t byte, unsigned shift, unsigned width) {
  return static_cast<uint8_t>(byte >> shift & ((1u << width) - 1));
}

Ipv6Header decode_ipv6(const uint8_t* p) {
  Ipv6Header h;
  const uint32_t first = load_be<uint32_t>(p);
  h.traffic_class = static_cast<uint8_t>(first >> 20);
  h.flow_label = first & 0xF'FFFF;
  h.payload_length = load_be<uint16_t>(p + 4);
  h.next_header = p[6];
  h.hop_limit = p[7];
  std::copy_n(p + 8, 16, h.source.begin());
  std::copy_n(p + 24, 16, h.destination.begin());
  return h;
}

UdpHeader decode_udp(const uint8_t* p) {
  return {load_be<uint16_t>(p), load_be<uint16_t>(p + 2), load_be<uint16_t>(p + 4),
          load_be<uint16_t>(p + 6)};
}

/// BTH: opcode | SE M pad2 TVer4 | P_Key | variant | destination QP 24 | A r rtx ts inv4 | PSN 24.
/// Byte 1 in the order of the InfiniBand specification (one public decoder has SE and M swapped).
Bth decode_bth(const uint8_t* p) {
  Bth b;
  b.opcode = static_cast<Opcode>(p[0]);
  b.solicited = bits(p[1], 7, 1) != 0;
  b.migration = bits(p[1], 6, 1) != 0;
  b.pad = bits(p[1], 4, 2);
  b.transport_version = bits(p[1], 0, 4);
  b.p_key = load_be<uint16_t>(p + 2);
  b.variant_reserved = p[4];
  b.destination_qp = {load_be24(p + 5)};
  b.ack_request = bits(p[8], 7, 1) != 0;
  b.retransmission = bits(p[8], 5, 1) != 0;
  b.has_tseth = bits(p[8], 4, 1) != 0;
  b.psn = Psn{load_be24(p + 9)};
  return b;
}

Tseth decode_tseth(const uint8_t* p) {
  return {load_be<uint16_t>(p), bits(p[2], 7, 1) != 0, bits(p[3], 0, 4)};
}

SackMark decode_mark(uint8_t value) {
  return value <= static_cast<uint8_t>(SackMark::kAlwaysSkip) ? static_cast<SackMark>(value)
                                                              : SackMark::kNone;  // reserved value
}

/// SETH 28 + CC_STATE 8 (specification tables 7-12 to 7-15).
Seth decode_seth(const uint8_t* p) {
  Seth s;
  s.type = bits(p[0], 4, 4);
  s.next = static_cast<uint8_t>(bits(p[0], 0, 4) << 1 | bits(p[1], 7, 1));
  s.mark = decode_mark(bits(p[1], 5, 2));
  s.probe_response = bits(p[1], 1, 1) != 0;
  s.psn_offset_or_probe_id = load_be<uint16_t>(p + 2);
  s.entropy = {load_be<uint32_t>(p + 4)};
  s.spdcid = load_be<uint16_t>(p + 8);
  s.dpdcid = load_be<uint16_t>(p + 10);
  s.port_mask = p[12];
  s.cumulative = Psn{load_be24(p + 13)};
  s.cc_type = bits(p[16], 4, 4);
  s.cc_flags = bits(p[16], 0, 4);
  s.mpr = p[17];
  s.sack_offset = static_cast<int16_t>(load_be<uint16_t>(p + 18));
  s.bitmap = load_be<uint64_t>(p + 20);
  s.tx_timestamp = load_be<uint16_t>(p + 28);
  s.out_of_order = load_be<uint16_t>(p + 30) & 0x7FFF;
  s.restore_cwnd = bits(p[32], 7, 1) != 0;
  s.receiver_penalty = bits(p[32], 0, 7);
  s.received_units = load_be24(p + 33);
  return s;
}

/// NETH (tables 7-16, 7-17).
Neth decode_neth(const uint8_t* p) {
  Neth n;
  n.reason = p[2];
  n.vendor = p[3];
  n.entropy = {load_be<uint32_t>(p + 4)};
  n.spdcid = load_be<uint16_t>(p + 8);
  n.dpdcid = load_be<uint16_t>(p + 10);
  n.psn = Psn{load_be24(p + 13)};
  n.cc_type = bits(p[16], 4, 4);
  n.cc_flags = bits(p[16], 0, 4);
  n.tx_timestamp = load_be<uint16_t>(p + 18);
  return n;
}

/// PETH (tables 7-18, 7-19).
Peth decode_peth(const uint8_t* p) {
  Peth h;
  h.vendor = p[3];
  h.probe_id = load_be<uint16_t>(p + 4);
  h.spdcid = load_be<uint16_t>(p + 8);
  h.dpdcid = load_be<uint16_t>(p + 10);
  h.tx_timestamp = load_be<uint16_t>(p + 12);
  h.one_microsecond_units = bits(p[14], 7, 1) != 0;
  h.frame_type = bits(p[15], 0, 4);
  return h;
}

/// ERTH (tables 7-20, 7-21): the operation is the low two bits of byte 1.
ParseError decode_erth(const uint8_t* p, Extension& extension) {
  if (bits(p[1], 0, 2) > static_cast<uint8_t>(EndpointOp::kEvProbe)) {
    return ParseError::kUnknownOpcode;
  }
  Erth& e = extension.emplace<Erth>();
  e.op = static_cast<EndpointOp>(bits(p[1], 0, 2));
  e.vendor = p[3];
  e.port_status_mask = load_be<uint32_t>(p + 4);
  e.tx_timestamp = load_be<uint16_t>(p + 12);
  e.one_microsecond_units = bits(p[14], 7, 1) != 0;
  return ParseError::kNone;
}

/// EETH (tables 7-22, 7-23): two public decoders have the operation in bits 3:2 of byte 1, one in
/// 5:4; we follow the two.
ParseError decode_eeth(const uint8_t* p, Extension& extension) {
  if (bits(p[1], 2, 2) > static_cast<uint8_t>(EndpointOp::kEvProbe)) {
    return ParseError::kUnknownOpcode;
  }
  Eeth& e = extension.emplace<Eeth>();
  e.op = static_cast<EndpointOp>(bits(p[1], 2, 2));
  e.tx_timestamp = load_be<uint16_t>(p + 28);
  return ParseError::kNone;
}

/// How many bytes the packet has from its Ethernet header, as its lengths say.
struct Extent {
  size_t original = 0;   ///< before a switch trimmed it
  size_t on_wire = 0;    ///< now
  size_t available = 0;  ///< of these, how many we hold
};

/// The fixed part: Ethernet, both IPv6, UDP; lengths must agree with one another.
ParseError parse_stack(std::span<const uint8_t> frame, MrcPacket& packet, ParseOptions options,
                       Extent& extent) {
  if (frame.size() < kOuterOffset) return ParseError::kTooShort;
  std::copy_n(frame.begin(), 6, packet.ethernet.destination.begin());
  std::copy_n(frame.begin() + 6, 6, packet.ethernet.source.begin());
  packet.ethernet.ethertype = load_be<uint16_t>(&frame[12]);
  if (packet.ethernet.ethertype != kEthertypeIpv6) return ParseError::kNotIpv6;
  if (frame.size() < kInnerOffset) return ParseError::kTooShort;
  if (frame[kOuterOffset] >> 4 != 6) return ParseError::kBadVersion;
  packet.outer = decode_ipv6(&frame[kOuterOffset]);
  if (packet.outer.next_header != kNextHeaderIpv6) return ParseError::kNotIpInIp;
  if (frame.size() < kAfterBthOffset) return ParseError::kTooShort;
  if (frame[kInnerOffset] >> 4 != 6) return ParseError::kBadVersion;
  packet.inner = decode_ipv6(&frame[kInnerOffset]);
  if (packet.inner.next_header != kNextHeaderUdp) return ParseError::kNotUdp;
  packet.udp = decode_udp(&frame[kUdpOffset]);
  if (packet.udp.destination_port != kMrcUdpPort &&
      packet.udp.destination_port != kMrcUdpPortAlternate) {
    return ParseError::kNotMrcPort;
  }
  extent.original = kUdpOffset + packet.inner.payload_length;
  extent.on_wire = kInnerOffset + packet.outer.payload_length;
  extent.available = std::min(frame.size(), extent.on_wire);
  if (packet.udp.length != packet.inner.payload_length || extent.on_wire > extent.original) {
    return ParseError::kLengthMismatch;
  }
  if (extent.on_wire < kAfterBthOffset) return ParseError::kTruncatedHeaders;
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
  const size_t needed = kAfterBthOffset + (packet.trimmed ? early : headers);
  if (extent.on_wire < needed || extent.available < needed) return ParseError::kTruncatedHeaders;
  if (extent.original < kAfterBthOffset + headers + kIcrcBytes) return ParseError::kLengthMismatch;
  const size_t padded = extent.original - kAfterBthOffset - headers - kIcrcBytes;
  if (padded % 4 != 0 || bth.pad > padded) return ParseError::kBadPad;
  packet.payload_length = padded - bth.pad;

  const uint8_t* p = &frame[kAfterBthOffset];
  write.meth = {load_be<uint16_t>(p), load_be<uint16_t>(p + 2)};
  p += kMethBytes;
  if (bth.has_tseth) {
    write.tseth = decode_tseth(p);
    p += kTsethBytes;
  }
  if (packet.trimmed) return ParseError::kNone;
  write.reth = Reth{load_be<uint64_t>(p), load_be<uint32_t>(p + 8), load_be<uint32_t>(p + 12)};
  if (has_immediate(bth.opcode)) write.immediate = load_be<uint32_t>(p + kRethBytes);
  const size_t present = std::min(packet.payload_length, extent.available - needed);
  packet.payload = frame.subspan(needed, present);
  return ParseError::kNone;
}

/// Everything but writes: one extension header of fixed size, never trimmed, no payload.
ParseError parse_control(std::span<const uint8_t> frame, const Extent& extent, MrcPacket& packet) {
  const size_t size = control_extension_bytes(packet.bth.opcode);
  if (size == 0) return ParseError::kUnknownOpcode;
  if (extent.original != kAfterBthOffset + size + kIcrcBytes || packet.trimmed) {
    return ParseError::kLengthMismatch;
  }
  if (packet.bth.pad != 0) return ParseError::kBadPad;
  if (extent.available < kAfterBthOffset + size) return ParseError::kTruncatedHeaders;
  const uint8_t* p = &frame[kAfterBthOffset];
  switch (packet.bth.opcode) {
    case Opcode::kAcknowledge: packet.extension = Aeth{p[0], load_be24(p + 1)}; break;
    case Opcode::kSack: packet.extension = decode_seth(p); break;
    case Opcode::kNack: packet.extension = decode_neth(p); break;
    case Opcode::kProbeRequest: packet.extension = decode_peth(p); break;
    case Opcode::kEndpointRequest: return decode_erth(p, packet.extension);
    case Opcode::kEndpointResponse: return decode_eeth(p, packet.extension);
    default: return ParseError::kUnknownOpcode;
  }
  return ParseError::kNone;
}

}  // namespace

bool is_write(Opcode opcode) {
  return opcode >= Opcode::kWriteFirst && opcode <= Opcode::kWriteOnlyImm;
}

bool has_immediate(Opcode opcode) {
  return opcode == Opcode::kWriteLastImm || opcode == Opcode::kWriteOnlyImm;
}

bool is_last(Opcode opcode) {
  return opcode >= Opcode::kWriteLast && opcode <= Opcode::kWriteOnlyImm;
}

EntropyValue MrcPacket::entropy() const { return entropy_from(udp.source_port, inner.flow_label); }

ParseError parse_mrc_frame(std::span<const uint8_t> frame, MrcPacket& packet,
                           ParseOptions options) {
  packet = MrcPacket{};
  Extent extent;
  const ParseError error = parse_stack(frame, packet, options, extent);
  if (error != ParseError::kNone) return error;
  packet.bth = decode_bth(&frame[kBthOffset]);
  return is_write(packet.bth.opcode) ? parse_write(frame, extent, packet)
                                     : parse_control(frame, extent, packet);
}

std::optional<Ipv6Header> parse_ipv6(std::span<const uint8_t> bytes) {
  if (bytes.size() < kIpv6Bytes || bytes[0] >> 4 != 6) return std::nullopt;
  return decode_ipv6(bytes.data());
}

uint16_t source_port_of(EntropyValue ev) { return static_cast<uint16_t>(ev.value); }

uint32_t flow_label_of(EntropyValue ev) { return ev.value >> 16; }

EntropyValue entropy_from(uint16_t source_port, uint32_t flow_label) {
  return {flow_label << 16 | source_port};  // 16 of the 20 bits of the label
}

}  // namespace mrclab
