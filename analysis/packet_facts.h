#pragma once
// What the headers of one packet say about its way, whoever made it: the carrier, the fields that
// hashes and responders look at, how many switches it has passed, and which ports it went between.

#include <cstdint>

#include "analysis/link_layer.h"
#include "fabric/headers.h"

namespace mrclab::analysis {

struct PacketFacts {
  static constexpr uint8_t kUnknownHops = 255;

  Ipv6Address source{}, destination{};  ///< the hosts'
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
  /// The NIC port at the host's end, if this was captured at a host's link; by MAC where there is one.
  uint64_t port_at(bool sender) const {
    const uint64_t near = sender ? source_mac : destination_mac;
    if (near != 0) return near;
    // Cooked headers hold the sender's address only: at a receiver that of the switch, one to a port.
    return source_mac != 0 ? source_mac : kNoMac | tap;
  }

  static constexpr uint64_t kNoMac = uint64_t{1} << 63;
};

PacketFacts facts_of(const MrcPacket& packet, uint32_t tap, WireEnd end);

/// Is every sign of the packet one of our own format: entropy value, and carrier or host addresses?
bool looks_like_ours(const MrcPacket& packet);

/// Two addresses and a number as one key, in which two of them hardly ever agree.
uint64_t pair_key(const Ipv6Address& source, const Ipv6Address& destination, uint64_t number);

}  // namespace mrclab::analysis
