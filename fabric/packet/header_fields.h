#pragma once
// Where each field of each header stands: the one table that the codecs (headers.cc,
// headers_write.cc, trailer.cc), the Wireshark dissector and the tests are made from.
//
// Layouts of MRC are from public decoders of the specification; where those disagree, the choice is
// noted at the field. Where that note is "ignored" we send the value of the table and do not look at it.

#include <algorithm>

#include "fabric/packet/field_table.h"
#include "fabric/packet/header_values.h"
#include "fabric/packet/time_trailer.h"

namespace mrclab {

/// Immediate data, which WriteHeaders has as a number.
struct ImmDt {
  uint32_t data = 0;
};

std::string_view name_of(SackMark mark);
std::string_view name_of(EndpointOp op);
std::string_view frame_type_name(uint64_t value);  ///< TSETH ftype
std::string_view timestamp_unit_name(uint64_t value);

template <class Enum>
std::string_view value_name(uint64_t value) {
  return name_of(static_cast<Enum>(value));
}

// Members of types of their own as bits, and back.
constexpr uint64_t to_bits(Psn psn) { return psn.value(); }
constexpr void from_bits(uint64_t bits, Psn& psn) { psn = Psn{static_cast<uint32_t>(bits)}; }
constexpr uint64_t to_bits(Qpn qpn) { return qpn.value; }
constexpr void from_bits(uint64_t bits, Qpn& qpn) { qpn.value = static_cast<uint32_t>(bits); }
constexpr uint64_t to_bits(EntropyValue ev) { return ev.value; }
constexpr void from_bits(uint64_t bits, EntropyValue& ev) {
  ev.value = static_cast<uint32_t>(bits);
}
constexpr uint64_t to_bits(WireId wire) { return wire.value; }
constexpr void from_bits(uint64_t bits, WireId& wire) { wire.value = static_cast<uint32_t>(bits); }
constexpr uint64_t to_bits(FabricTime t) { return static_cast<uint64_t>(t.ps()); }
constexpr void from_bits(uint64_t bits, FabricTime& t) {
  t = FabricTime::from_ps(static_cast<int64_t>(bits));
}
/// A reserved value of the M field means nothing, as if it were not there.
constexpr void from_bits(uint64_t bits, SackMark& mark) {
  mark = bits <= static_cast<uint64_t>(SackMark::kAlwaysSkip) ? static_cast<SackMark>(bits)
                                                              : SackMark::kNone;
}

inline constexpr auto kEthernetTable =
    header_table<EthernetHeader>("eth", "Ethernet", "IEEE 802.3",  //
                                 field(48, "dst", "Destination", &EthernetHeader::destination),
                                 field(48, "src", "Source", &EthernetHeader::source),
                                 field(16, "type", "Type", &EthernetHeader::ethertype, Show::kHex));

inline constexpr auto kIpv6Table = header_table<Ipv6Header>(
    "ipv6", "Internet Protocol Version 6", "RFC 8200 section 3",  //
    constant(4, "version", "Version", 6),
    field(8, "tclass", "Traffic class", &Ipv6Header::traffic_class, Show::kHex),
    field(20, "flow", "Flow label", &Ipv6Header::flow_label, Show::kHex),
    field(16, "plen", "Payload length", &Ipv6Header::payload_length),
    field(8, "nxt", "Next header", &Ipv6Header::next_header),
    field(8, "hlim", "Hop limit", &Ipv6Header::hop_limit),
    field(128, "src", "Source address", &Ipv6Header::source),
    field(128, "dst", "Destination address", &Ipv6Header::destination));

inline constexpr auto kIpv4Table = header_table<Ipv4Header>(
    "ipv4", "Internet Protocol Version 4", "RFC 791 section 3.1",  //
    constant(4, "version", "Version", 4), constant(4, "ihl", "Header length", 5),
    field(8, "tos", "DSCP and ECN", &Ipv4Header::traffic_class, Show::kHex),
    field(16, "len", "Total length", &Ipv4Header::total_length),
    field(16, "id", "Identification", &Ipv4Header::identification, Show::kHex),
    field(16, "frag", "Flags and fragment offset", &Ipv4Header::fragment, Show::kHex),
    field(8, "ttl", "Time to live", &Ipv4Header::hop_limit),
    field(8, "proto", "Protocol", &Ipv4Header::protocol),
    field(16, "checksum", "Header checksum", &Ipv4Header::checksum, Show::kHex),
    field(32, "src", "Source address", &Ipv4Header::source),
    field(32, "dst", "Destination address", &Ipv4Header::destination));

inline constexpr auto kUdpTable =
    header_table<UdpHeader>("udp", "User Datagram Protocol", "RFC 768",  //
                            field(16, "srcport", "Source port", &UdpHeader::source_port),
                            field(16, "dstport", "Destination port", &UdpHeader::destination_port),
                            field(16, "length", "Length", &UdpHeader::length),
                            field(16, "checksum", "Checksum", &UdpHeader::checksum, Show::kHex));

/// Byte 1 in the order of the InfiniBand specification (one public decoder has SE and M swapped).
inline constexpr auto kBthTable = header_table<Bth>(
    "bth", "Base Transport Header", "InfiniBand specification 9.2; MRC specification 6.2.2",
    field(8, "opcode", "Opcode", &Bth::opcode, Show::kHex, value_name<Opcode>),
    field(1, "se", "Solicited event", &Bth::solicited), field(1, "m", "Migration", &Bth::migration),
    field(2, "pad", "Pad count", &Bth::pad, Show::kDecimal, nullptr, "bytes behind the payload"),
    field(4, "tver", "Transport version", &Bth::transport_version),
    field(16, "p_key", "Partition key", &Bth::p_key, Show::kHex),
    field(8, "var_res", "Variant reserved", &Bth::variant_reserved, Show::kHex, nullptr,
          "not covered by the ICRC"),
    field(24, "dqp", "Destination queue pair", &Bth::destination_qp, Show::kHex),
    field(1, "a", "Acknowledge request", &Bth::ack_request), reserved(1),
    field(1, "rtx", "Retransmission", &Bth::retransmission),
    field(1, "ts", "TSETH present", &Bth::has_tseth), reserved(4),
    field(24, "psn", "Packet sequence number", &Bth::psn));

inline constexpr auto kMethTable =
    header_table<Meth>("meth", "MRC Extended Transport Header", "MRC specification tables 6-8, 6-9",
                       field(16, "rqmsn", "Receive queue message number", &Meth::rqmsn,
                             Show::kDecimal, nullptr, "counts Writes with Immediate"),
                       field(16, "msn", "Message sequence number", &Meth::msn));

inline constexpr auto kTsethTable = header_table<Tseth>(
    "tseth", "Timestamp Extended Transport Header", "MRC specification tables 6-6, 6-7",
    field(16, "tx_timestamp", "Transmit timestamp", &Tseth::tx_timestamp),
    field(1, "tsr", "Timestamp resolution", &Tseth::one_microsecond_units, Show::kDecimal,
          timestamp_unit_name, "which value is which unit is our choice"),
    reserved(11),
    field(4, "ftype", "Frame type", &Tseth::frame_type, Show::kDecimal, frame_type_name));

inline constexpr auto kRethTable =
    header_table<Reth>("reth", "RDMA Extended Transport Header",
                       "InfiniBand specification 9.3.3; in every MRC request",
                       field(64, "va", "Virtual address", &Reth::va, Show::kHex),
                       field(32, "rkey", "Remote key", &Reth::rkey, Show::kHex),
                       field(32, "dmalen", "DMA length", &Reth::dma_length, Show::kDecimal, nullptr,
                             "bytes of the whole message"));

inline constexpr auto kImmDtTable =
    header_table<ImmDt>("immdt", "Immediate Data", "InfiniBand specification 9.3.6",
                        field(32, "data", "Immediate data", &ImmDt::data, Show::kHex));

inline constexpr auto kAethTable =
    header_table<Aeth>("aeth", "ACK Extended Transport Header", "InfiniBand specification 9.3.5",
                       field(8, "syndrome", "Syndrome", &Aeth::syndrome, Show::kHex, nullptr,
                             "0x1f: no credits, which MRC does not have"),
                       field(24, "msn", "Message sequence number", &Aeth::msn));

inline constexpr auto kAtomicEthTable = header_table<AtomicEth>(
    "atomiceth", "Atomic Extended Transport Header", "InfiniBand specification 9.3.4",
    field(64, "va", "Virtual address", &AtomicEth::va, Show::kHex),
    field(32, "rkey", "Remote key", &AtomicEth::rkey, Show::kHex),
    field(64, "swapdt", "Swap or add data", &AtomicEth::swap_add, Show::kHex),
    field(64, "cmpdt", "Compare data", &AtomicEth::compare, Show::kHex));

inline constexpr auto kAtomicAckEthTable = header_table<AtomicAckEth>(
    "atomicacketh", "Atomic ACK Extended Transport Header", "InfiniBand specification 9.3.5",
    field(64, "origremdt", "Original remote data", &AtomicAckEth::original, Show::kHex));

/// Both tables of a SACK fill one Seth.
inline constexpr auto kSethTable = header_table<Seth>(
    "seth", "SACK Extended Transport Header", "MRC specification tables 7-14, 7-15",
    field(4, "type", "Type", &Seth::type), field(5, "next", "Next header", &Seth::next),
    field(2, "m", "Mark", &Seth::mark, Show::kDecimal, value_name<SackMark>,
          "what the EV deserves (7.5.5.5)"),
    reserved(3),
    field(1, "pr", "Probe response", &Seth::probe_response, Show::kDecimal, nullptr,
          "then psn_offset is the probe's id"),
    reserved(1),
    field(16, "psn_offset", "PSN offset or probe id", &Seth::psn_offset_or_probe_id, Show::kDecimal,
          nullptr, "of the packet that is answered, from the cumulative PSN; signed"),
    field(32, "entropy", "Entropy value", &Seth::entropy, Show::kHex, nullptr,
          "of the packet that is answered"),
    field(16, "spdcid", "Source PDC id", &Seth::spdcid),
    field(16, "dpdcid", "Destination PDC id", &Seth::dpdcid),
    field(8, "port_mask", "Port mask", &Seth::port_mask, Show::kHex, nullptr,
          "a reserved byte of the specification; the paper has ports in the SACK"),
    field(24, "cack_psn", "Cumulative PSN", &Seth::cumulative),
    field(4, "cc_type", "Congestion control type", &Seth::cc_type),
    field(4, "cc_flags", "Congestion control flags", &Seth::cc_flags, Show::kHex),
    field(8, "mpr", "Maximum PSN range", &Seth::mpr, Show::kDecimal, nullptr, "x 128 PSNs; 0: off"),
    field(16, "sack_offset", "SACK offset", &Seth::sack_offset, Show::kDecimal, nullptr,
          "PSN of bit 0 of the bitmap, from the cumulative PSN"),
    field(64, "bitmap", "SACK bitmap", &Seth::bitmap, Show::kHex, nullptr,
          "bit i: PSN cack_psn + sack_offset + i was received"));

inline constexpr auto kCcStateTable = header_table<Seth>(
    "cc_state", "Congestion Control State", "MRC specification tables 7-12, 7-13",
    field(16, "tx_timestamp", "Reflected timestamp", &Seth::tx_timestamp), reserved(1),
    field(15, "ooo_count", "Out of order count", &Seth::out_of_order),
    field(1, "restore_cwnd", "Restore window", &Seth::restore_cwnd),
    field(7, "rcv_cwnd_pen", "Receiver window penalty", &Seth::receiver_penalty),
    field(24, "rcvd_bytes", "Received", &Seth::received_units, Show::kDecimal, nullptr,
          "units of 256 bytes, rounded up"));

inline constexpr auto kNethTable = header_table<Neth>(
    "neth", "NACK Extended Transport Header", "MRC specification tables 7-16, 7-17",
    constant(4, "type", "Type", 0), constant(5, "next", "Next header", 0), reserved(7),
    field(8, "reason", "Reason", &Neth::reason, Show::kHex, value_name<NackReason>, "table 7-3"),
    field(8, "vendor", "Vendor information", &Neth::vendor, Show::kHex),
    field(32, "entropy", "Entropy value", &Neth::entropy, Show::kHex, nullptr,
          "of the packet that is answered"),
    field(16, "spdcid", "Source PDC id", &Neth::spdcid),
    field(16, "dpdcid", "Destination PDC id", &Neth::dpdcid), reserved(8),
    field(24, "nack_psn", "PSN", &Neth::psn),
    field(4, "cc_type", "Congestion control type", &Neth::cc_type),
    field(4, "cc_flags", "Congestion control flags", &Neth::cc_flags, Show::kHex), reserved(8),
    field(16, "tx_timestamp", "Reflected timestamp", &Neth::tx_timestamp));

inline constexpr auto kPethTable = header_table<Peth>(
    "peth", "Probe Extended Transport Header", "MRC specification tables 7-18, 7-19",
    constant(4, "type", "Type", 0), constant(5, "next", "Next header", 0), reserved(15),
    field(8, "vendor", "Vendor information", &Peth::vendor, Show::kHex),
    field(16, "probe_id", "Probe id", &Peth::probe_id), reserved(16),
    field(16, "spdcid", "Source PDC id", &Peth::spdcid),
    field(16, "dpdcid", "Destination PDC id", &Peth::dpdcid),
    field(16, "tx_timestamp", "Transmit timestamp", &Peth::tx_timestamp),
    field(1, "tsr", "Timestamp resolution", &Peth::one_microsecond_units, Show::kDecimal,
          timestamp_unit_name),
    reserved(11),
    field(4, "ftype", "Frame type", &Peth::frame_type, Show::kDecimal, frame_type_name));

inline constexpr auto kErthTable = header_table<Erth>(
    "erth", "Endpoint Request Extended Transport Header", "MRC specification tables 7-20, 7-21",
    constant(4, "type", "Type", 0), constant(5, "next", "Next header", 0), reserved(5),
    field(2, "op", "Operation", &Erth::op, Show::kDecimal, value_name<EndpointOp>), reserved(8),
    field(8, "vendor", "Vendor information", &Erth::vendor, Show::kHex),
    field(32, "port_status_mask", "Port status", &Erth::port_status_mask, Show::kHex, nullptr,
          "bit i: port i, counted from 0 (our choice), can be reached"),
    reserved(32), field(16, "tx_timestamp", "Transmit timestamp", &Erth::tx_timestamp),
    field(1, "tsr", "Timestamp resolution", &Erth::one_microsecond_units, Show::kDecimal,
          timestamp_unit_name),
    reserved(11),
    constant(4, "ftype", "Frame type", 1, Show::kDecimal, frame_type_name, "ignored"));

/// Two public decoders have the operation in bits 3:2 of byte 1, one in 5:4; we follow the two.
inline constexpr auto kEethTable = header_table<Eeth>(
    "eeth", "Endpoint Response Extended Transport Header", "MRC specification tables 7-22, 7-23",
    constant(4, "type", "Type", 0), constant(5, "next", "Next header", 0), reserved(3),
    field(2, "op", "Operation", &Eeth::op, Show::kDecimal, value_name<EndpointOp>), reserved(2),
    reserved(26 * 8), field(16, "tx_timestamp", "Reflected timestamp", &Eeth::tx_timestamp),
    reserved(6 * 8));

std::string_view probe_kind_name(uint64_t value);

inline constexpr uint64_t kProbeMagic = 0x4D52'4350;  // "MRCP"
/// As short as a trimmed frame's part behind UDP, so that no switch cuts it.
inline constexpr auto kProbeTable = header_table<ProbeHeader>(
    "probe", "Mapper Probe", "fabric/probes/probe_frame.h",
    constant(32, "magic", "Magic", kProbeMagic, Show::kHex), constant(4, "version", "Version", 1),
    field(4, "kind", "Kind", &ProbeHeader::kind, Show::kDecimal, probe_kind_name,
          "what it goes to and comes back from"),
    field(8, "plane", "Plane", &ProbeHeader::plane),
    field(16, "uplink", "Uplink", &ProbeHeader::uplink, Show::kDecimal, nullptr,
          "the T1 that it reaches first"),
    field(32, "sequence", "Sequence number", &ProbeHeader::sequence),
    field(32, "nonce", "Nonce", &ProbeHeader::nonce, Show::kHex, nullptr,
          "by which its sender recognises it"),
    field(64, "sent", "Sent", &ProbeHeader::sent, Show::kDecimal, nullptr, "ps"));

std::string_view mapper_message_name(uint64_t value);
std::string_view denied_part_name(uint64_t value);

inline constexpr auto kMapperTable = header_table<MapperHeader>(
    "message", "Mapper Message", "fabric/probes/mapper_message.h",
    constant(32, "magic", "Magic", 0x4D52'434C, Show::kHex), constant(4, "version", "Version", 1),
    field(4, "kind", "Kind", &MapperHeader::kind, Show::kDecimal, mapper_message_name), reserved(8),
    field(16, "count", "Fates or parts", &MapperHeader::count),
    field(32, "session", "Session", &MapperHeader::session, Show::kHex),
    field(64, "period", "Period", &MapperHeader::period),
    field(64, "list", "List", &MapperHeader::list, Show::kDecimal, nullptr,
          "the instant in ps at which it was decided; 0: as at the start"));

inline constexpr auto kPartTable = header_table<PartHeader>(
    "part", "Denied Part", "fabric/probes/denied_part.h",
    field(8, "kind", "Kind", &PartHeader::kind, Show::kDecimal, denied_part_name),
    field(8, "plane", "Plane", &PartHeader::plane),
    field(16, "uplink", "Uplink", &PartHeader::uplink),
    field(32, "index", "T0 or host", &PartHeader::index));

inline constexpr auto kStampTable = header_table<StampHeader>(
    "stamp", "STAMP Session-Sender Test Packet", "RFC 8762 section 4.2.1 and RFC 8972 section 3",
    field(32, "seq_number", "Sequence number", &StampHeader::sequence),
    field(32, "seconds", "Timestamp, seconds", &StampHeader::seconds),
    field(32, "nanoseconds", "Timestamp, fraction", &StampHeader::nanoseconds, Show::kDecimal,
          nullptr, "nanoseconds where Z is set, else of NTP"),
    field(1, "s", "Synchronised", &StampHeader::synchronised),
    field(1, "z", "PTP timestamp", &StampHeader::is_ptp),
    field(6, "scale", "Error scale", &StampHeader::scale),
    field(8, "multiplier", "Error multiplier", &StampHeader::multiplier),
    field(16, "ssid", "Session id", &StampHeader::session, Show::kHex), reserved(28 * 8));

inline constexpr uint64_t kTrailerMagic = 0x4D52'4354;  // "MRCT"
/// Ends with the CRC so that tools which take the last four bytes of a frame for its FCS take this.
inline constexpr auto kTrailerTable = header_table<TimeTrailer>(
    "mrctime", "Time trailer", "fabric/packet/trailer.h",
    constant(32, "magic", "Magic", kTrailerMagic, Show::kHex), constant(8, "version", "Version", 1),
    reserved(7), computed(1, "void", "Stands for a lost frame", Show::kDecimal, "lost is not none"),
    field(8, "lost", "Lost", &TimeTrailer::lost, Show::kDecimal, value_name<DropCause>,
          "decided at the start: why the frame will not arrive"),
    reserved(8), field(32, "lab", "Lab", &TimeTrailer::lab, Show::kHex),
    field(32, "wire", "Directed wire", &TimeTrailer::wire),
    field(32, "incarnation", "Incarnation", &TimeTrailer::incarnation, Show::kDecimal, nullptr,
          "of the sending process"),
    field(32, "size", "Modelled size", &TimeTrailer::modelled_size, Show::kDecimal, nullptr,
          "bytes without FCS"),
    field(64, "sequence", "Sequence on the wire", &TimeTrailer::sequence),
    field(64, "start", "Transmission starts", &TimeTrailer::start, Show::kDecimal, nullptr, "ps"),
    field(64, "end", "Transmission ends", &TimeTrailer::end, Show::kDecimal, nullptr, "ps"),
    field(64, "flight", "Flight", &TimeTrailer::flight, Show::kDecimal, nullptr,
          "ps: propagation and any fault's delay; arrival is end + flight"),
    field(32, "damage", "Damage", &TimeTrailer::damage, Show::kHex, nullptr,
          "of a frame without payload: the XOR of its wrong bits' numbers plus one"),
    computed(32, "crc", "CRC-32", Show::kHex, "of the bytes before"));

/// The same for what a mapper's probes and messages have behind UDP, one or the other; a list's parts follow its header.
template <class F>
void for_each_probe_header(F&& f) {
  f.template operator()<kProbeTable>();
  f.template operator()<kStampTable>();
  f.template operator()<kMapperTable>();
  f.template operator()<kPartTable>();
}

/// Calls f.operator()<kTable>() for each header behind UDP, in the order in which they may follow.
template <class F>
void for_each_mrc_header(F&& f) {
  f.template operator()<kBthTable>();
  f.template operator()<kMethTable>();
  f.template operator()<kTsethTable>();
  f.template operator()<kRethTable>();
  f.template operator()<kImmDtTable>();
  f.template operator()<kAethTable>();
  f.template operator()<kAtomicEthTable>();
  f.template operator()<kAtomicAckEthTable>();
  f.template operator()<kSethTable>();
  f.template operator()<kCcStateTable>();
  f.template operator()<kNethTable>();
  f.template operator()<kPethTable>();
  f.template operator()<kErthTable>();
  f.template operator()<kEethTable>();
}

}  // namespace mrclab
