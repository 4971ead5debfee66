#pragma once
// The checksum of a UDP datagram within a frame of ours, over the addresses of the packet that a host sees (RFC 8200
// section 8.1, RFC 9800 section 6.5).

#include <cstdint>
#include <span>

#include "fabric/packet/headers.h"

namespace mrclab {

/// Of the `length` bytes from the UDP header on; 0 if the checksum in them is right.
uint16_t udp_sum(std::span<const uint8_t> frame, const FrameLayout& at, size_t length);
/// Writes it into a frame with a carrier that ends with the datagram.
void put_udp_sum(std::span<uint8_t> frame);

}  // namespace mrclab
