#pragma once
// The outer IP header of a frame, read and written at fixed offsets: all that a switch looks at, but
// for the ports that a hash stirs in. Every function here needs a frame that the forwarding table let
// pass: the whole header is there, and its version is the ethertype's.

#include <cstdint>
#include <cstring>
#include <span>

#include "fabric/base/byte_order.h"
#include "fabric/node/node.h"
#include "fabric/packet/frame.h"
#include "fabric/packet/headers.h"
#include "fabric/packet/whole_frame.h"

namespace mrclab::switchd {

// RFC 8200 §3, from the start of the Ethernet frame.
inline constexpr size_t kEthertypeOffset = 12;
inline constexpr size_t kTrafficClassOffset = kOuterOffset;  // 4 bits version, 8 traffic class
inline constexpr size_t kPayloadLengthOffset = kOuterOffset + 4;
inline constexpr size_t kNextHeaderOffset = kOuterOffset + 6;
inline constexpr size_t kHopLimitOffset = kOuterOffset + 7;
inline constexpr size_t kDestinationOffset = kOuterOffset + 24;

/// The longest MRC frame without payload (SACK with CC_STATE, endpoint response: BTH + 36 bytes +
/// ICRC), with a carrier. A switch sees no BTH, so "carries payload" is: longer than this. (Without a
/// carrier such a frame is shorter; the bound stays above what is left of a trimmed frame.)
inline constexpr size_t kLongestHeaderOnlyFrame = kAfterBthOffset + 36 + kIcrcBytes;

// RFC 791 §3.1, likewise.
inline constexpr size_t kTosOffset = kOuterOffset + 1;
inline constexpr size_t kTotalLengthOffset = kOuterOffset + 2;
inline constexpr size_t kTtlOffset = kOuterOffset + 8;
inline constexpr size_t kIpChecksumOffset = kOuterOffset + 10;
inline constexpr size_t kIpv4DestinationOffset = kOuterOffset + 16;

inline bool is_ipv4(std::span<const uint8_t> frame) { return frame[kOuterOffset] >> 4 == 4; }

/// To be called after every change to an IPv4 header.
inline void renew_checksum(std::span<uint8_t> frame) {
  store_be<uint16_t>(frame.data() + kIpChecksumOffset, 0);
  store_be<uint16_t>(frame.data() + kIpChecksumOffset, ipv4_checksum(&frame[kOuterOffset]));
}

inline uint8_t dscp_of(std::span<const uint8_t> frame) {
  if (is_ipv4(frame)) return frame[kTosOffset] >> 2;
  const uint8_t* p = frame.data() + kTrafficClassOffset;
  return static_cast<uint8_t>((p[0] & 0x0F) << 2 | p[1] >> 6);
}
inline void set_dscp(std::span<uint8_t> frame, uint8_t dscp) {
  if (is_ipv4(frame)) {
    frame[kTosOffset] = static_cast<uint8_t>(dscp << 2 | (frame[kTosOffset] & 3));
    return renew_checksum(frame);
  }
  uint8_t* p = frame.data() + kTrafficClassOffset;
  p[0] = static_cast<uint8_t>((p[0] & 0xF0) | dscp >> 2);
  p[1] = static_cast<uint8_t>((p[1] & 0x3F) | (dscp & 3) << 6);
}

/// Is the packet ECN-capable and not marked yet, ECT(0) or ECT(1) (RFC 3168 §5)?
inline bool is_ect(std::span<const uint8_t> frame) {
  const uint8_t ecn =
      is_ipv4(frame) ? frame[kTosOffset] & 3 : frame[kTrafficClassOffset + 1] >> 4 & 3;
  return ecn == 1 || ecn == 2;
}
inline bool is_ce(std::span<const uint8_t> frame) {
  return (is_ipv4(frame) ? frame[kTosOffset] & 3 : frame[kTrafficClassOffset + 1] >> 4 & 3) ==
         kEcnCe;
}
inline void mark_ce(std::span<uint8_t> frame) {
  if (is_ipv4(frame)) {
    frame[kTosOffset] |= kEcnCe;
    return renew_checksum(frame);
  }
  frame[kTrafficClassOffset + 1] |= 0x30;
}

/// Takes an outer IPv6 header off.
inline void strip_outer(Frame& frame) {
  const Bytes modelled = frame.modelled_size() - Bytes{kIpv6Bytes};
  const std::span<uint8_t> bytes = frame.writable_bytes();
  std::memmove(&bytes[kOuterOffset], &bytes[kInnerOffset], bytes.size() - kInnerOffset);
  frame.resize(bytes.size() - kIpv6Bytes);
  frame.set_modelled_size(modelled);
}

/// The three traffic classes of UEC 1.0.3 §4.1: control (SACK, NACK, ACK), trimmed, and data, which is
/// everything else. (The MRC specification asks for two at least.) Beside them the class of RoCE's data.
inline QueueClass queue_class_of(const DscpMap& dscps, uint8_t dscp) {
  if (dscps.is_control(dscp)) return QueueClass::kControl;
  if (dscp == dscps.lossless) return QueueClass::kLossless;
  return dscps.is_trimmed(dscp) ? QueueClass::kTrimmed : QueueClass::kData;
}

/// May a full queue cut this frame instead of dropping it? (MRC paper §2.1, UEC 1.0.3 §4.1)
inline bool is_trimmable(const DscpMap& dscps, uint8_t dscp, Bytes modelled_size) {
  return dscps.is_trimmable(dscp) && modelled_size.value > kLongestHeaderOnlyFrame;
}

/// Trims: the first kTrimmedFrameBytes stay, the outer length follows (an IP receiver drops packets
/// shorter than their length field), inner IPv6 and UDP lengths stay (UEC 1.0.3 §4.1: the receiver
/// learns the original size). ECN bits stay: the marks of earlier hops still count.
inline void trim(Frame& frame, bool last_hop, const DscpMap& dscps) {
  hold_first(frame, kTrimmedFrameBytes);
  if (frame.size() > kTrimmedFrameBytes) frame.resize(kTrimmedFrameBytes);
  frame.set_modelled_size({kTrimmedFrameBytes});
  frame.repair();  // a trimmed frame's ICRC is never checked
  const std::span<uint8_t> bytes = frame.writable_bytes();
  const bool ipv4 = is_ipv4(bytes);
  store_be<uint16_t>(
      bytes.data() + (ipv4 ? kTotalLengthOffset : kPayloadLengthOffset),
      static_cast<uint16_t>(kTrimmedFrameBytes - (ipv4 ? kOuterOffset : kInnerOffset)));
  set_dscp(bytes, last_hop ? dscps.trimmed_last_hop : dscps.trimmed);
}

}  // namespace mrclab::switchd
