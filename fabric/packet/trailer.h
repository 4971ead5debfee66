#pragma once
// The time trailer, by which each frame carries its own fabric times. It stands behind the IP
// packet on every frame that one of our nodes puts on a veth, and never counts towards any modelled
// length.
//
// Layout, network byte order, 64 bytes:
//    0  magic "MRCT" u32      4  version u8     5  flags u8 (bit 0: void)   6  drop cause u8   7  0
//    8  lab id u32           12  wire id u32   16  incarnation u32         20  modelled size u32
//   24  wire sequence u64    32  start ps i64  40  end ps i64              48  flight ps i64
//   56  damage u32           60  CRC-32 of bytes 0-59 (tools that take the last four bytes of a
//                                 frame for its FCS take this one)

#include <cstdint>
#include <optional>
#include <span>

#include "fabric/packet/frame.h"
#include "fabric/packet/time_trailer.h"

namespace mrclab {

inline constexpr uint16_t kVoidEthertype = 0x88B5;  ///< IEEE 802 local experimental ethertype 1
/// Bytes of the lost frame that a void frame keeps.
inline constexpr size_t kVoidHeaderBytes = 128;
static_assert(kTrailerBytes <= kTrailerReserve);

void write_trailer(const TimeTrailer& trailer, std::span<uint8_t, kTrailerBytes> out);

/// Parses any bytes at all. Empty unless magic, version, CRC and ranges (start <= end, flight >= 0,
/// known cause) are right.
std::optional<TimeTrailer> parse_trailer(std::span<const uint8_t> bytes);

/// Where the trailer of an Ethernet frame must start: behind the IP packet by its length field, behind
/// the length field of a void frame, or behind a pause frame. Where that length is more than there is, the
/// payload may be elided, and then a trailer is the end of the frame. Empty for anything else or when it would
/// not fit.
std::optional<size_t> trailer_offset(std::span<const uint8_t> ethernet_frame);

/// Cuts a lost frame to its first kVoidHeaderBytes, which travel on. The modelled size stays.
void cut_to_void(Frame& lost);
/// A void frame stands for a frame that was lost on the wire: Ethernet header with ethertype
/// kVoidEthertype, u16 count, then the first `count` (<= 128) bytes of the lost frame.
Frame make_void_frame(FramePool& pool, const Frame& lost);
/// The lost frame's headers out of a void frame; empty if malformed.
Frame unwrap_void_frame(FramePool& pool, std::span<const uint8_t> ethernet_frame);

}  // namespace mrclab
