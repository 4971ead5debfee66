// Names of what the headers carry, as they appear in logs, captures and reports.

#include "fabric/packet/header_fields.h"
#include "fabric/packet/headers.h"

namespace mrclab {

std::string_view name_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::kSendFirst: return "send_first";
    case Opcode::kSendMiddle: return "send_middle";
    case Opcode::kSendLast: return "send_last";
    case Opcode::kSendLastImm: return "send_last_imm";
    case Opcode::kSendOnly: return "send_only";
    case Opcode::kSendOnlyImm: return "send_only_imm";
    case Opcode::kRcWriteFirst: return "rc_write_first";
    case Opcode::kRcWriteMiddle: return "rc_write_middle";
    case Opcode::kRcWriteLast: return "rc_write_last";
    case Opcode::kRcWriteLastImm: return "rc_write_last_imm";
    case Opcode::kRcWriteOnly: return "rc_write_only";
    case Opcode::kRcWriteOnlyImm: return "rc_write_only_imm";
    case Opcode::kRcReadRequest: return "rc_read_request";
    case Opcode::kRcReadFirst: return "rc_read_first";
    case Opcode::kRcReadMiddle: return "rc_read_middle";
    case Opcode::kRcReadLast: return "rc_read_last";
    case Opcode::kRcReadOnly: return "rc_read_only";
    case Opcode::kRcAcknowledge: return "rc_acknowledge";
    case Opcode::kRcAtomicAcknowledge: return "rc_atomic_acknowledge";
    case Opcode::kRcCompareSwap: return "rc_compare_swap";
    case Opcode::kRcFetchAdd: return "rc_fetch_add";
    case Opcode::kCongestionNotification: return "cnp";
    case Opcode::kWriteFirst: return "write_first";
    case Opcode::kWriteMiddle: return "write_middle";
    case Opcode::kWriteLast: return "write_last";
    case Opcode::kWriteLastImm: return "write_last_imm";
    case Opcode::kWriteOnly: return "write_only";
    case Opcode::kWriteOnlyImm: return "write_only_imm";
    case Opcode::kAcknowledge: return "acknowledge";
    case Opcode::kEndpointRequest: return "endpoint_request";
    case Opcode::kEndpointResponse: return "endpoint_response";
    case Opcode::kSack: return "sack";
    case Opcode::kNack: return "nack";
    case Opcode::kProbeRequest: return "probe_request";
  }
  return "unknown";
}

std::string_view name_of(NackReason reason) {
  switch (reason) {
    case NackReason::kTrimmed: return "trimmed";
    case NackReason::kTrimmedLastHop: return "trimmed_last_hop";
    case NackReason::kNoBitmap: return "no_bitmap";
    case NackReason::kNoPacketBuffer: return "no_packet_buffer";
    case NackReason::kNoResource: return "no_resource";
    case NackReason::kPsnOutOfWindow: return "psn_out_of_window";
    case NackReason::kUnexpectedEvent: return "unexpected_event";
  }
  return "unknown";
}

std::string_view name_of(SackMark mark) {
  switch (mark) {
    case SackMark::kNone: return "none";
    case SackMark::kSkipOnce: return "skip_once";
    case SackMark::kAlwaysSkip: return "always_skip";
  }
  return "unknown";
}

std::string_view name_of(EndpointOp op) {
  switch (op) {
    case EndpointOp::kPortStatusUpdate: return "port_status_update";
    case EndpointOp::kEvProbe: return "ev_probe";
  }
  return "unknown";
}

std::string_view frame_type_name(uint64_t value) { return value == 1 ? "timestamp" : "unknown"; }

std::string_view timestamp_unit_name(uint64_t value) { return value == 0 ? "128 ns" : "1 us"; }

std::string_view probe_kind_name(uint64_t value) {
  constexpr std::array<std::string_view, 3> kNames{"t0", "t1", "cross"};
  return value < kNames.size() ? kNames[value] : "unknown";
}

std::string_view mapper_message_name(uint64_t value) {
  constexpr std::array<std::string_view, 2> kNames{"report", "list"};
  return value < kNames.size() ? kNames[value] : "unknown";
}

std::string_view denied_part_name(uint64_t value) {
  constexpr std::array<std::string_view, 5> kNames{"link", "port", "t1", "t0", "plane"};
  return value < kNames.size() ? kNames[value] : "unknown";
}

std::string_view name_of(ParseError error) {
  switch (error) {
    case ParseError::kNone: return "none";
    case ParseError::kTooShort: return "too_short";
    case ParseError::kNotIpv6: return "not_ipv6";
    case ParseError::kBadVersion: return "bad_version";
    case ParseError::kLengthMismatch: return "length_mismatch";
    case ParseError::kNotIpInIp: return "not_ip_in_ip";
    case ParseError::kNotUdp: return "not_udp";
    case ParseError::kNotMrcPort: return "not_mrc_port";
    case ParseError::kUnknownOpcode: return "unknown_opcode";
    case ParseError::kTruncatedHeaders: return "truncated_headers";
    case ParseError::kBadPad: return "bad_pad";
    case ParseError::kBadIcrc: return "bad_icrc";
    case ParseError::kBadIpChecksum: return "bad_ip_checksum";
  }
  return "unknown";
}

}  // namespace mrclab
