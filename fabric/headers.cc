// The parser: what follows what and how long it is. Where fields stand is header_fields.h, names are
// header_names.cc, the writer headers_write.cc, the ICRC icrc.cc.

#include "fabric/headers.h"

#include <algorithm>

#include "fabric/header_sizes.h"

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
  size_t original = 0;   ///< before a switch trimmed it
  size_t on_wire = 0;    ///< now
  size_t available = 0;  ///< of these, how many we hold
};

/// The fixed part: Ethernet, both IPv6, UDP; lengths must agree with one another.
ParseError parse_stack(std::span<const uint8_t> frame, MrcPacket& packet, ParseOptions options,
                       Extent& extent) {
  if (frame.size() < kOuterOffset) return ParseError::kTooShort;
  read_header<kEthernetTable>(frame.data(), packet.ethernet);
  if (packet.ethernet.ethertype != kEthertypeIpv6) return ParseError::kNotIpv6;
  if (frame.size() < kInnerOffset) return ParseError::kTooShort;
  if (frame[kOuterOffset] >> 4 != 6) return ParseError::kBadVersion;
  read_header<kIpv6Table>(&frame[kOuterOffset], packet.outer);
  if (packet.outer.next_header != kNextHeaderIpv6) return ParseError::kNotIpInIp;
  if (frame.size() < kAfterBthOffset) return ParseError::kTooShort;
  if (frame[kInnerOffset] >> 4 != 6) return ParseError::kBadVersion;
  read_header<kIpv6Table>(&frame[kInnerOffset], packet.inner);
  if (packet.inner.next_header != kNextHeaderUdp) return ParseError::kNotUdp;
  read_header<kUdpTable>(&frame[kUdpOffset], packet.udp);
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
    case Opcode::kAcknowledge: packet.extension = decode<kAethTable>(p); break;
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
  read_header<kBthTable>(&frame[kBthOffset], packet.bth);
  return is_write(packet.bth.opcode) ? parse_write(frame, extent, packet)
                                     : parse_control(frame, extent, packet);
}

std::optional<Ipv6Header> parse_ipv6(std::span<const uint8_t> bytes) {
  if (bytes.size() < kIpv6Bytes || bytes[0] >> 4 != 6) return std::nullopt;
  return decode<kIpv6Table>(bytes.data());
}

uint16_t source_port_of(EntropyValue ev) { return static_cast<uint16_t>(ev.value); }

uint32_t flow_label_of(EntropyValue ev) { return ev.value >> 16; }

EntropyValue entropy_from(uint16_t source_port, uint32_t flow_label) {
  return {flow_label << 16 | source_port};  // 16 of the 20 bits of the label
}

}  // namespace mrclab
