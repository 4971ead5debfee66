#pragma once
// The headers of a frame as values, decoded to host order. Their order in a packet is in headers.h.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fabric/base/ids.h"
#include "fabric/topology/topology.h"

namespace mrclab {

inline constexpr uint16_t kEthertypeIpv6 = 0x86DD, kEthertypeIpv4 = 0x0800;
/// LLDP (IEEE 802.1AB), and the length that all of our frames of it have (fabric/neighbours/lldp_frame.h).
inline constexpr uint16_t kLldpEthertype = 0x88CC;
inline constexpr size_t kLldpFrameBytes = 152;
inline constexpr uint8_t kNextHeaderIpv6 = 41;
inline constexpr uint8_t kNextHeaderUdp = 17;
inline constexpr uint16_t kMrcUdpPort = 4791;           ///< RoCEv2's; SPEC §7.5.5.2 prints 4971
inline constexpr uint16_t kMrcUdpPortAlternate = 4971;  ///< accepted on receive
/// RFC 863: destination of datagrams that are not MRC.
inline constexpr uint16_t kDiscardPort = 9;
/// A mapper's probes: of our own form from and to a port of the range for private use (RFC 6335 section 6; our choice);
/// STAMP test packets to RFC 8762's.
inline constexpr uint16_t kProbePort = 49'862, kStampPort = 862;
/// What agents report and the list that they get (fabric/probes/mapper_message.h); of the same range.
inline constexpr uint16_t kMapperPort = 49'863;
inline constexpr Qpn kEndpointQpn{0x2};  ///< connectionless endpoint operations

inline constexpr uint8_t kEcnNotEct = 0, kEcnEct0 = 2, kEcnCe = 3;

inline constexpr size_t kEthernetBytes = 14, kIpv6Bytes = 40, kIpv4Bytes = 20, kUdpBytes = 8,
                        kBthBytes = 12;

struct EthernetHeader {
  MacAddress destination{}, source{};
  uint16_t ethertype = kEthertypeIpv6;
  bool operator==(const EthernetHeader&) const = default;
};

struct Ipv6Header {
  uint8_t traffic_class = 0;  ///< DSCP << 2 | ECN
  uint32_t flow_label = 0;
  uint16_t payload_length = 0;
  uint8_t next_header = 0;
  uint8_t hop_limit = 64;
  Ipv6Address source{}, destination{};
  uint8_t dscp() const { return traffic_class >> 2; }
  uint8_t ecn() const { return traffic_class & 3; }
  bool operator==(const Ipv6Header&) const = default;
};

/// An IPv4 header without options. We send unfragmented packets only, with DF set.
struct Ipv4Header {
  uint8_t traffic_class = 0;  ///< DSCP << 2 | ECN
  uint16_t total_length = 0, identification = 0;
  uint16_t fragment = 0x4000;  ///< flags and offset; DF
  uint8_t hop_limit = 64;      ///< time to live
  uint8_t protocol = 0;
  uint16_t checksum = 0;
  std::array<uint8_t, 4> source{}, destination{};
  bool operator==(const Ipv4Header&) const = default;
};
struct UdpHeader {
  uint16_t source_port = 0, destination_port = kMrcUdpPort, length = 0, checksum = 0;
  bool operator==(const UdpHeader&) const = default;
};

enum class Opcode : uint8_t {
  // RC
  kSendFirst = 0x00,
  kSendMiddle = 0x01,
  kSendLast = 0x02,
  kSendLastImm = 0x03,
  kSendOnly = 0x04,
  kSendOnlyImm = 0x05,
  kRcWriteFirst = 0x06,
  kRcWriteMiddle = 0x07,
  kRcWriteLast = 0x08,
  kRcWriteLastImm = 0x09,
  kRcWriteOnly = 0x0A,
  kRcWriteOnlyImm = 0x0B,
  kRcReadRequest = 0x0C,
  kRcReadFirst = 0x0D,  ///< a response, as the next three
  kRcReadMiddle = 0x0E,
  kRcReadLast = 0x0F,
  kRcReadOnly = 0x10,
  kRcAcknowledge = 0x11,
  kRcAtomicAcknowledge = 0x12,
  kRcCompareSwap = 0x13,
  kRcFetchAdd = 0x14,
  kCongestionNotification = 0x81,
  // MRC
  kWriteFirst = 0xC6,
  kWriteMiddle = 0xC7,
  kWriteLast = 0xC8,
  kWriteLastImm = 0xC9,
  kWriteOnly = 0xCA,
  kWriteOnlyImm = 0xCB,
  kAcknowledge = 0xD1,
  kEndpointRequest = 0xD8,
  kEndpointResponse = 0xD9,
  kSack = 0xDC,
  kNack = 0xDD,
  kProbeRequest = 0xDE,
};
std::string_view name_of(Opcode opcode);
/// A write of MRC.
inline bool is_write(Opcode opcode) {
  return opcode >= Opcode::kWriteFirst && opcode <= Opcode::kWriteOnlyImm;
}
/// A SEND or WRITE of RC.
inline bool is_rc_request(Opcode opcode) { return opcode <= Opcode::kRcWriteOnlyImm; }
/// A READ or atomic of RC: a request without payload, whose answer has the data.
inline bool is_rc_fetch(Opcode opcode) {
  return opcode == Opcode::kRcReadRequest || opcode == Opcode::kRcCompareSwap ||
         opcode == Opcode::kRcFetchAdd;
}
/// The answer to a READ, whose payload is of the responder.
inline bool is_rc_read_response(Opcode opcode) {
  return opcode >= Opcode::kRcReadFirst && opcode <= Opcode::kRcReadOnly;
}
/// An answer with data.
inline bool is_rc_response(Opcode opcode) {
  return is_rc_read_response(opcode) || opcode == Opcode::kRcAtomicAcknowledge;
}
/// Any packet of an RC queue pair.
inline bool is_rc(Opcode opcode) {
  return opcode <= Opcode::kRcFetchAdd || opcode == Opcode::kCongestionNotification;
}
/// A packet with payload of its sender's, of either transport.
inline bool carries_data(Opcode opcode) { return is_write(opcode) || is_rc_request(opcode); }
/// A packet of a queue pair's requests, which has a PSN of its own: it is lost, retransmitted and acknowledged.
inline bool is_request(Opcode opcode) { return carries_data(opcode) || is_rc_fetch(opcode); }
// The next four are to be asked only of a packet that carries data.
bool is_send(Opcode opcode);
bool has_immediate(Opcode opcode);
bool is_first(Opcode opcode);  ///< FIRST or ONLY
bool is_last(Opcode opcode);   ///< LAST or ONLY, with or without immediate

/// BTH byte 4 of a CNP: the backward notification bit (InfiniBand annex A17.9.3).
inline constexpr uint8_t kBecn = 0x40;

struct Bth {
  Opcode opcode = Opcode::kWriteOnly;
  bool solicited = false, migration = false;
  uint8_t pad = 0, transport_version = 0;
  uint16_t p_key = 0xFFFF;
  uint8_t variant_reserved = 0;
  Qpn destination_qp;
  bool ack_request = false, retransmission = false, has_tseth = false;
  Psn psn;
  bool operator==(const Bth&) const = default;
};
struct Meth {
  uint16_t rqmsn = 0, msn = 0;
  bool operator==(const Meth&) const = default;
};
struct Tseth {
  uint16_t tx_timestamp = 0;
  bool one_microsecond_units = false;
  uint8_t frame_type = 1;
  bool operator==(const Tseth&) const = default;
};
struct Reth {
  uint64_t va = 0;
  uint32_t rkey = 0;
  uint32_t dma_length = 0;
  bool operator==(const Reth&) const = default;
};
struct Aeth {
  uint8_t syndrome = 0x1F;
  uint32_t msn = 0;
  bool operator==(const Aeth&) const = default;
};
struct AtomicEth {
  uint64_t va = 0;
  uint32_t rkey = 0;
  uint64_t swap_add = 0, compare = 0;
  bool operator==(const AtomicEth&) const = default;
};
struct AtomicAckEth {
  uint64_t original = 0;
  bool operator==(const AtomicAckEth&) const = default;
};

enum class SackMark : uint8_t { kNone = 0, kSkipOnce = 1, kAlwaysSkip = 2 };
struct Seth {
  uint8_t type = 0, next = 0;
  SackMark mark = SackMark::kNone;
  bool probe_response = false;          ///< then psn_offset_or_probe_id is the probe id
  uint16_t psn_offset_or_probe_id = 0;  ///< int16: trigger PSN = cumulative + offset
  EntropyValue entropy;
  uint16_t spdcid = 0, dpdcid = 0;
  uint8_t port_mask = 0;  ///< reserved byte [12]; 0 unless the feature is on
  Psn cumulative;
  uint8_t cc_type = 0, cc_flags = 0;
  uint8_t mpr = 0;  ///< x128 PSNs; 0: dynamic MPR off
  int16_t sack_offset = 0;
  uint64_t bitmap = 0;  ///< bit i: PSN cumulative + sack_offset + i was received
  // CC_STATE
  uint16_t tx_timestamp = 0;
  uint16_t out_of_order = 0;
  bool restore_cwnd = false;
  uint8_t receiver_penalty = 0;
  uint32_t received_units = 0;  ///< 24 bits, units of 256 bytes, rounded up
  bool operator==(const Seth&) const = default;
};

enum class NackReason : uint8_t {
  kTrimmed = 0x01,
  kTrimmedLastHop = 0x02,
  kNoBitmap = 0x06,
  kNoPacketBuffer = 0x07,
  kNoResource = 0x0A,
  kPsnOutOfWindow = 0x0B,
  kUnexpectedEvent = 0x19,
};
std::string_view name_of(NackReason reason);
struct Neth {
  uint8_t reason = 0x01, vendor = 0;
  EntropyValue entropy;
  uint16_t spdcid = 0, dpdcid = 0;
  Psn psn;
  uint8_t cc_type = 2, cc_flags = 0;
  uint16_t tx_timestamp = 0;
  bool operator==(const Neth&) const = default;
};
struct Peth {
  uint8_t vendor = 0;
  uint16_t probe_id = 0, spdcid = 0, dpdcid = 0, tx_timestamp = 0;
  bool one_microsecond_units = false;
  uint8_t frame_type = 1;
  bool operator==(const Peth&) const = default;
};
enum class EndpointOp : uint8_t { kPortStatusUpdate = 0, kEvProbe = 1 };
struct Erth {
  EndpointOp op = EndpointOp::kPortStatusUpdate;
  uint8_t vendor = 0;
  uint32_t port_status_mask = 0;  ///< bit i: 0-based port i reachable
  uint16_t tx_timestamp = 0;
  bool one_microsecond_units = false;
  bool operator==(const Erth&) const = default;
};
struct Eeth {
  EndpointOp op = EndpointOp::kPortStatusUpdate;
  uint16_t tx_timestamp = 0;
  bool operator==(const Eeth&) const = default;
};

/// What a mapper's probe of our own form has behind UDP (fabric/probes/probe_frame.h).
struct ProbeHeader {
  uint8_t kind = 0;  ///< ProbeKind
  uint8_t plane = 0;
  uint16_t uplink = 0;
  uint32_t sequence = 0;
  uint32_t nonce = 0;  ///< by which its sender recognises it
  FabricTime sent;
  bool operator==(const ProbeHeader&) const = default;
};

/// What a mapper's agents and its collector send each other begins with.
struct MapperHeader {
  uint8_t kind = 0;    ///< 0: a report, 1: a list
  uint16_t count = 0;  ///< of fates, or of parts
  uint32_t session = 0;
  uint64_t period = 0;  ///< that is reported
  uint64_t list = 0;    ///< the version of the list that the sender has
  bool operator==(const MapperHeader&) const = default;
};
/// A part of the fabric in a list (fabric/probes/denied_part.h).
struct PartHeader {
  uint8_t kind = 0;
  uint8_t plane = 0;
  uint16_t uplink = 0;
  uint32_t index = 0;
  bool operator==(const PartHeader&) const = default;
};

/// A STAMP test packet of a session's sender, unauthenticated (RFC 8762 section 4.2.1, RFC 8972 section 3).
struct StampHeader {
  uint32_t sequence = 0;
  uint32_t seconds = 0, nanoseconds = 0;  ///< PTPv2 timestamp, cut to 64 bits
  bool synchronised = false;
  bool is_ptp = true;  ///< the format of the timestamp; else NTP's
  uint8_t scale = 0, multiplier = 1;
  uint16_t session = 0;
  bool operator==(const StampHeader&) const = default;
};

}  // namespace mrclab
