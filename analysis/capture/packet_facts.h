#pragma once
// What the headers of one packet show of its path, whichever implementation wrote them: the carrier,
// the fields that hashes and responders look at, how many switches it has passed, and the MAC
// addresses of the ports that it went between.

#include <cstdint>

#include "analysis/capture/link_layer.h"
#include "fabric/packet/headers.h"

namespace mrclab::analysis {

struct PacketFacts {
  static constexpr uint8_t kUnknownHops = 255;

  Ipv6Address source{}, destination{};  ///< the hosts' addresses, within the carrier
  Ipv6Address carrier{};                ///< the outer destination; zero without one
  uint64_t source_mac = 0, destination_mac = 0;
  uint32_t flow_label = 0;
  uint32_t tap = 0;  ///< where it was captured: file << 16 | interface
  uint16_t source_port = 0;
  uint8_t hops = kUnknownHops;  ///< switches passed, by the hop limit
  WireEnd end = WireEnd::kUnknown;
  bool encapsulated = false;

  /// Source port and flow label as one number, the same at every place of the way.
  EntropyValue wire_entropy() const { return {(flow_label & 0xFFFF) << 16 | source_port}; }
  /// A number for the host's NIC port, if this was captured at a host's link: its MAC address, or
  /// where the capture has none, the tap.
  uint64_t port_at(bool sender) const {
    const uint64_t near = sender ? source_mac : destination_mac;
    if (near != 0) return near;
    // A cooked header holds only the sender's address. At a receiver that is the address of the
    // switch port, and each port of the host has its own.
    return source_mac != 0 ? source_mac : kNoMac | tap;
  }

  static constexpr uint64_t kNoMac = uint64_t{1} << 63;
};

PacketFacts facts_of(const MrcPacket& packet, uint32_t tap, WireEnd end);

/// Do entropy value, carrier and host addresses all look as this lab would write them?
bool looks_like_ours(const MrcPacket& packet);

/// A 64-bit hash of two addresses and a number: collisions are so rare that
/// it serves as their name.
uint64_t pair_key(const Ipv6Address& source, const Ipv6Address& destination, uint64_t number);

}  // namespace mrclab::analysis
