#pragma once
// LLDPDUs (IEEE 802.1AB-2016 clause 8): who is at the other end of a link. A frame to the nearest bridge, which nobody
// forwards:
//
//   01:80:c2:00:00:0e | source MAC | 0x88cc | chassis: MAC | port: interface name | TTL | system name | capabilities
//   | organization's: service | end | pad
//
// Type and length of each TLV are 7 and 9 bits. The organization's TLV is ours (its OUI has the local bit set, so it is
// nobody else's): whether the switch forwards, and to hosts which uplinks it does not use. Our frames have one length,
// which a simulator without payload has room for.

#include <array>
#include <bitset>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "fabric/packet/frame.h"
#include "fabric/topology/topology.h"

namespace mrclab {

/// By uplink of a T0: those with a bit are not used.
using UplinkSet = std::bitset<256>;

/// What our own TLV carries.
struct LldpService {
  bool forwards = true;
  UplinkSet unused;
  bool operator==(const LldpService&) const = default;
};

struct LldpFrame {
  std::string_view system;    ///< its name; empty: not sent
  std::string_view port;      ///< port id, as bytes
  bool port_is_text = false;  ///< the port id's subtype is a name, not an address
  std::string_view chassis;   ///< chassis id, as bytes
  bool chassis_is_text = false;
  uint16_t ttl_s = 0;  ///< 0: what the sender said before is void
  bool ours = false;   ///< `service` was in it
  LldpService service;
};

enum class LldpError : uint8_t {
  kNone,
  kNotLldp,    ///< another ethertype or destination
  kTooShort,   ///< a TLV reaches beyond the frame
  kOrder,      ///< chassis, port and TTL do not come first, each once
  kBadLength,  ///< a TLV is shorter or longer than its type may be
};
std::string_view name_of(LldpError error);

/// Has it LLDP's ethertype?
bool is_lldp(std::span<const uint8_t> ethernet_frame);

/// Any bytes at all. What `out` holds points into the frame.
LldpError parse_lldp(std::span<const uint8_t> ethernet_frame, LldpFrame& out);

/// What a node sends at `port`.
Frame make_lldp(FramePool& pool, const Topology& topology, PortRef port, uint16_t ttl_s,
                const LldpService& service);

/// "p0.t0-1:u2": the system's name, or its chassis id, and the port. Fit to be shown.
std::string sender_of(const LldpFrame& frame);

}  // namespace mrclab
