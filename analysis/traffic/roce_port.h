#pragma once
// What a frame to the UDP ports of MRC and RoCEv2 shows before any parser has read it to its end: whose opcode it has,
// and whether its IPv4 checksum is right.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace mrclab::analysis {

/// IPv6 has no checksum, which counts as right.
enum class IpChecksum : uint8_t {
  kRight,
  kOpen,   ///< zeros, which a sender leaves there whose NIC computes it (checksum offload)
  kWrong,  ///< anything else: bits were flipped, or the headers were changed after it was computed
};
IpChecksum ip_checksum_of(std::span<const uint8_t> ethernet_frame);

/// A frame as a NIC would have sent it: `frame` with the right IPv4 checksum, in `room`, which outlives what is read of
/// it. The frame must have an IPv4 header.
std::span<const uint8_t> with_ip_checksum(std::span<const uint8_t> frame,
                                          std::vector<uint8_t>& room);

struct RoceHeader {
  uint8_t opcode = 0;             ///< the first byte of BTH
  uint64_t bytes_behind_bth = 0;  ///< before the ICRC, by the length in UDP
};
/// Empty for other ports, and for a frame that ends before its BTH does.
std::optional<RoceHeader> roce_header_of(std::span<const uint8_t> ethernet_frame);

}  // namespace mrclab::analysis
