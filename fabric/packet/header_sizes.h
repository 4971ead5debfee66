#pragma once
// Sizes of the extension headers behind BTH, shared by the parser and the writer.

#include <cstddef>

#include "fabric/packet/header_fields.h"

namespace mrclab {

static_assert(kEthernetTable.bits() == 8 * kEthernetBytes && kIpv6Table.bits() == 8 * kIpv6Bytes);
static_assert(kIpv4Table.bits() == 8 * kIpv4Bytes);
static_assert(kUdpTable.bits() == 8 * kUdpBytes && kBthTable.bits() == 8 * kBthBytes);
static_assert(kTrailerTable.bits() == 8 * kTrailerBytes);

inline constexpr size_t kMethBytes = kMethTable.bytes(), kTsethBytes = kTsethTable.bytes();
inline constexpr size_t kRethBytes = kRethTable.bytes(), kImmediateBytes = kImmDtTable.bytes();
inline constexpr size_t kAethBytes = kAethTable.bytes(), kNethBytes = kNethTable.bytes();
inline constexpr size_t kSethBytes = kSethTable.bytes() + kCcStateTable.bytes();
inline constexpr size_t kPethBytes = kPethTable.bytes(), kErthBytes = kErthTable.bytes();
inline constexpr size_t kEethBytes = kEethTable.bytes();
inline constexpr size_t kAtomicEthBytes = kAtomicEthTable.bytes();
inline constexpr size_t kAtomicAckEthBytes = kAtomicAckEthTable.bytes();
inline constexpr size_t kCnpBytes = 16;
static_assert(kMethBytes == 4 && kTsethBytes == 4 && kRethBytes == 16 && kImmediateBytes == 4);
static_assert(kAethBytes == 4 && kSethBytes == 36 && kNethBytes == 20 && kPethBytes == 16);
static_assert(kErthBytes == 16 && kEethBytes == 36);
static_assert(kAtomicEthBytes == 28 && kAtomicAckEthBytes == 8);

/// Size of the one extension header of a packet that is no write; 0 for an unknown opcode.
constexpr size_t control_extension_bytes(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAcknowledge:
    case Opcode::kRcAcknowledge: return kAethBytes;
    case Opcode::kRcReadRequest: return kRethBytes;
    case Opcode::kRcCompareSwap:
    case Opcode::kRcFetchAdd: return kAtomicEthBytes;
    case Opcode::kRcAtomicAcknowledge: return kAethBytes + kAtomicAckEthBytes;
    case Opcode::kCongestionNotification: return kCnpBytes;
    case Opcode::kSack: return kSethBytes;
    case Opcode::kNack: return kNethBytes;
    case Opcode::kProbeRequest: return kPethBytes;
    case Opcode::kEndpointRequest: return kErthBytes;
    case Opcode::kEndpointResponse: return kEethBytes;
    default: return 0;
  }
}

/// Bytes of RETH and ImmDt in a request of RC.
constexpr size_t rc_extension_bytes(bool reth, bool immediate) {
  return (reth ? kRethBytes : 0) + (immediate ? kImmediateBytes : 0);
}

/// Bytes of AETH in an answer to a READ.
constexpr size_t rc_response_bytes(Opcode opcode) {
  return opcode == Opcode::kRcReadMiddle ? 0 : kAethBytes;
}

}  // namespace mrclab
