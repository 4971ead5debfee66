#pragma once
// Several frames in one: what one of our nodes sends to another by one wire in one tick crosses the kernel as one packet
// where nobody else looks at the wire. Whoever receives it takes the frames out, each with its own trailer, as if they
// had come one by one.
//
//   Ethernet 14 | IPv6 40 | (length u16, frame with its trailer), as often as the IPv6 payload has room
//
// Nothing but this needs a ring of its own: the ethertype is IPv6's, with the next header 253 (RFC 3692, for
// experiments) and hop limit 1. The destination address is one that no interface has, so that a kernel drops the packet
// before it looks for a route.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fabric/packet/headers.h"

namespace mrclab {

inline constexpr MacAddress kBundleMac{0x02, 0x6d, 0x72, 0x63, 0x62, 0x00};  // no port has it
inline constexpr uint8_t kBundleNextHeader = 253;
inline constexpr size_t kBundleHeadBytes = kEthernetBytes + kIpv6Bytes;
/// In front of each frame.
inline constexpr size_t kBundledLengthBytes = 2;

/// May the frame travel in a bundle? Those that end in our NICs and switches may: packets of MRC and of RC, and void
/// frames. Any other may be meant for the kernel at the other end, which takes no bundle apart.
bool may_be_bundled(std::span<const uint8_t> frame);

/// Writes the headers of a bundle of `size` bytes, these included. `source`: the port that sends it.
void write_bundle_head(const MacAddress& source, std::span<uint8_t> bundle);

/// Is this Ethernet frame a bundle? Of any bytes at all.
bool is_bundle(std::span<const uint8_t> ethernet_frame);
/// Is this IPv6 packet, which was `length` bytes long before a capture cut it, what a bundle has behind its Ethernet
/// header? Of any bytes at all.
bool is_bundle_packet(std::span<const uint8_t> packet, size_t length);

/// The frames of a bundle one after the other.
class BundledFrames {
 public:
  /// `bundle` has is_bundle().
  explicit BundledFrames(std::span<const uint8_t> bundle);
  /// The next frame; empty at the end, and where the lengths are not right. complete() has which.
  std::optional<std::span<const uint8_t>> next();
  /// The last frame ended where the bundle ends.
  bool complete() const { return left_.empty(); }

 private:
  std::span<const uint8_t> left_;
};

}  // namespace mrclab
