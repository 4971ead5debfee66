#pragma once
// Packet formats of MRC 1.0, from public sources, where they disagree the choice is noted here; and of the
// Reliable Connection (RC) transport over RoCEv2, which MRC is measured against (InfiniBand specification
// 9.2 to 9.7, annex A17; Linux rdma_rxe). All fields are decoded to host order (header_values.h).
//
//   Ethernet | outer IPv6 | inner IPv6 | UDP | ...     with a carrier (SRv6)
//   Ethernet | IPv6 | UDP | ...                        between hosts' addresses (ECMP)
//   Ethernet | IPv4 | UDP | ...                        likewise
//
//   ... | BTH 12 | METH 4 | [TSETH 4] | RETH 16 | [ImmDt 4] | payload | pad | ICRC 4   (writes)
//   ... | BTH | AETH 4 | ICRC                                                      (transport ACK)
//   ... | BTH | SETH 28 + CC_STATE 8 | ICRC                                        (SACK)
//   ... | BTH | NETH 20 | ICRC                                                     (NACK)
//   ... | BTH | PETH 16 | ICRC                                                     (probe)
//   ... | BTH | ERTH 16 or EETH 36 | ICRC                                          (endpoint)
//
//   ... | BTH | [RETH 16] [ImmDt 4] | payload | pad | ICRC       (RC requests; RETH in the first of a write)
//   ... | BTH | AETH 4 | ICRC                                    (RC acknowledge)
//   ... | BTH | RETH 16 | ICRC                                   (RC READ request)
//   ... | BTH | [AETH 4] | payload | pad | ICRC                  (RC READ response; AETH in the first and the last)
//   ... | BTH | AtomicETH 28 | ICRC                              (RC atomic)
//   ... | BTH | AETH 4 | AtomicAckETH 8 | ICRC                   (RC atomic acknowledge)
//   ... | BTH | 16 zero bytes | ICRC                             (congestion notification packet, CNP)

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "fabric/base/byte_order.h"
#include "fabric/base/ids.h"
#include "fabric/packet/header_values.h"
#include "fabric/topology/dscp.h"
#include "fabric/topology/topology.h"

namespace mrclab {

/// What stands between Ethernet and UDP.
enum class Encapsulation : uint8_t { kSrv6, kIpv6, kIpv4 };

/// Where headers begin, from the start of the Ethernet frame.
struct FrameLayout {
  /// The header with the hosts' addresses, which the ICRC covers: the inner one of SRv6.
  size_t ip;
  size_t udp, bth, after_bth;
};
constexpr FrameLayout layout_of(Encapsulation encapsulation) {
  const size_t ip = kEthernetBytes + (encapsulation == Encapsulation::kSrv6 ? kIpv6Bytes : 0);
  const size_t udp = ip + (encapsulation == Encapsulation::kIpv4 ? kIpv4Bytes : kIpv6Bytes);
  return {ip, udp, udp + kUdpBytes, udp + kUdpBytes + kBthBytes};
}
/// The encapsulation, from ethertype, versions and protocols. The frame must hold everything up to
/// the end of UDP. Empty for any other kind, for IPv4 options and for fragments.
std::optional<Encapsulation> encapsulation_of(std::span<const uint8_t> frame);

// Offsets in a frame with a carrier (no SRH).
inline constexpr size_t kOuterOffset = kEthernetBytes;
inline constexpr size_t kInnerOffset = kOuterOffset + kIpv6Bytes;
inline constexpr size_t kUdpOffset = kInnerOffset + kIpv6Bytes;
inline constexpr size_t kBthOffset = kUdpOffset + kUdpBytes;
inline constexpr size_t kAfterBthOffset = kBthOffset + kBthBytes;  // 114
inline constexpr size_t kIcrcBytes = 4;
inline constexpr size_t kTrimmedFrameBytes = 128;  ///< from the Ethernet header (SONiC default)

/// The checksum over the 20 bytes of an IPv4 header as they stand: 0 if the checksum in them is
/// right; the value to store if that field is 0 (RFC 1071).
uint16_t ipv4_checksum(const uint8_t* header);

/// What follows BTH in a write request.
struct WriteHeaders {
  Meth meth;
  std::optional<Tseth> tseth;
  std::optional<Reth> reth;  ///< absent only in a trimmed packet
  std::optional<uint32_t> immediate;
  bool operator==(const WriteHeaders&) const = default;
};
/// What follows BTH in a request of RC that is no atomic.
struct RcHeaders {
  std::optional<Reth> reth;  ///< in the first packet of a WRITE, and in a READ
  std::optional<uint32_t> immediate;
  bool operator==(const RcHeaders&) const = default;
};
/// What follows BTH in an answer of RC with data.
struct RcResponse {
  std::optional<Aeth> aeth;              ///< not in the middle of a READ's
  std::optional<AtomicAckEth> original;  ///< of an atomic
  bool operator==(const RcResponse&) const = default;
};
/// What follows BTH in a CNP: 16 reserved bytes.
struct CnpHeader {
  bool operator==(const CnpHeader&) const = default;
};
using Extension = std::variant<std::monostate, WriteHeaders, Aeth, Seth, Neth, Peth, Erth, Eeth,
                               RcHeaders, CnpHeader, AtomicEth, RcResponse>;

enum class ParseError : uint8_t {
  kNone,
  kTooShort,
  kNotIpv6,
  kBadVersion,
  kLengthMismatch,
  kNotIpInIp,
  kNotUdp,
  kNotMrcPort,
  kUnknownOpcode,
  kTruncatedHeaders,
  kBadPad,
  kBadIcrc,
  kBadIpChecksum,
};
std::string_view name_of(ParseError error);

/// A decoded MRC frame. Spans point into the bytes that were parsed.
struct MrcPacket {
  EthernetHeader ethernet;
  Encapsulation encapsulation = Encapsulation::kSrv6;
  /// The header that switches read, and the header with the hosts' addresses. Without a carrier
  /// both are the packet's only IP header. An IPv4 header is given in terms of IPv6: mapped
  /// addresses, the length behind the header, and as flow label the half of the EV that IPv4 has no
  /// room for (fabric/topology/ev_path.h).
  Ipv6Header outer, inner;
  UdpHeader udp;
  Bth bth;
  Extension extension;
  bool trimmed = false;  ///< outer length is shorter than inner (or UDP) length
  bool cut = false;      ///< fewer bytes present than by the length fields (snap length)
  std::span<const uint8_t> payload;  ///< without pad and ICRC; empty if trimmed
  size_t payload_length = 0;         ///< by the length fields, also when trimmed or cut
  EntropyValue entropy() const;      ///< from UDP source port and inner flow label (SPEC §7.5.2.1)
  /// The entropy value that a responder reflects: all bits that the packet carries; on IPv4 the low
  /// half and zeros.
  EntropyValue entropy_to_reflect() const;
};

struct ParseOptions {
  /// The bytes may end early (a capture's snap length, an elided payload): headers must be whole,
  /// the rest is taken from the lengths.
  bool allow_cut = false;
};

/// Decodes any bytes at all; never reads out of bounds. Returns kNone and fills `packet`, or returns
/// the reason. The ICRC is not checked here (icrc_ok below).
ParseError parse_mrc_frame(std::span<const uint8_t> frame, MrcPacket& packet,
                           ParseOptions options = {});

/// UDP source port and flow label that carry an EV: low half to the port, high half to the label.
uint16_t source_port_of(EntropyValue ev);
uint32_t flow_label_of(EntropyValue ev);
constexpr EntropyValue entropy_from(uint16_t source_port, uint32_t flow_label) {
  return {flow_label << 16 | source_port};  // 16 of the 20 bits of the label
}

/// On IPv4 a frame has the low half alone; the rest follows from it (fabric/topology/ev_path.h).
EntropyValue entropy_of_ipv4(std::span<const uint8_t> frame);
/// The entropy value of a frame with the given encapsulation (encapsulation_of). Inline, because it is asked
/// for at every hop.
inline EntropyValue entropy_of(std::span<const uint8_t> frame, Encapsulation encapsulation) {
  if (encapsulation == Encapsulation::kIpv4) return entropy_of_ipv4(frame);
  const FrameLayout at = layout_of(encapsulation);
  return entropy_from(load_be<uint16_t>(frame.data() + at.udp),
                      load_be<uint32_t>(frame.data() + at.ip) & 0xF'FFFF);
}

/// Everything needed to write one frame. Lengths (outer, inner, UDP), pad count, EV fields (source
/// port, both flow labels) and has_tseth are derived; UDP checksum is 0 as RoCEv2 senders do.
struct MrcFrameSpec {
  Encapsulation encapsulation = Encapsulation::kSrv6;
  MacAddress source_mac{}, destination_mac{};
  Ipv6Address outer_source{}, carrier{};            ///< SRv6 only
  Ipv6Address inner_source{}, inner_destination{};  ///< the hosts'; mapped ones for IPv4
  uint8_t dscp = kDscpTrimmable;
  uint8_t ecn = kEcnEct0;
  uint8_t hop_limit = 64;
  uint16_t udp_port = kMrcUdpPort;
  EntropyValue ev;
  Bth bth;
  Extension extension;
  size_t payload_length = 0;
};
/// Bytes of what follows BTH in a packet of this opcode.
size_t extension_size(Opcode opcode, const Extension& extension);
/// Writes as many bytes. The extension is one that the opcode has.
size_t write_extension(Opcode opcode, const Extension& extension, uint8_t* out);

/// Zeroes the pad of a frame whose headers and payload are written, and writes its ICRC.
void finish_mrc_frame(std::span<uint8_t> frame);
/// The same for a frame in pieces: its headers, its payload, and `tail`, which has the pad, zeros, and room for
/// the ICRC, which is written.
void write_icrc(std::span<const uint8_t> headers, std::span<const uint8_t> payload,
                std::span<uint8_t> tail);
/// Writes a frame of `size` bytes that goes the same way and is not MRC: a UDP datagram of zeros.
/// Only the members of `spec` before `bth` are used. `out` may end before the frame does (an elided
/// payload), but not within the headers.
void write_datagram(const MrcFrameSpec& spec, size_t size, std::span<uint8_t> out);

/// ICRC as the InfiniBand Trade Association's RoCEv2 annex: CRC-32 over 8 bytes 0xFF, the (inner)
/// IPv6 header with traffic class, flow label, hop limit all ones, or the IPv4 header with TOS, TTL
/// and checksum all ones, UDP with checksum 0xFFFF, BTH with byte 4 = 0xFF, everything up to the
/// ICRC. Stored little-endian as on InfiniBand.
uint32_t compute_icrc(std::span<const uint8_t> from_ip_to_icrc);
bool icrc_ok(std::span<const uint8_t> frame);

}  // namespace mrclab
