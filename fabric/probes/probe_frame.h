#pragma once
// A mapper's probe as bytes:
//
//   Ethernet | IPv6, a carrier | IPv6, from and to the prober | UDP | probe header 24
//   Ethernet | IPv6, a carrier | IPv6, from and to the prober | UDP | STAMP test packet 44
//
// In the class of MRC's data, so that it meets the queues that data meets, and trimmable. A probe of our own form is too
// short to be cut; of STAMP's the last 18 bytes are. With `decap: leaf` it comes back without the outer header. What
// comes back is what was sent, as in the loopback mode of draft-ietf-spring-stamp-srpm-srv6: there is no reflector, and
// switches hold no state. The UDP checksum covers the prober's own address (RFC 9800 section 6.5) and is looked at in a
// probe that is whole.

#include <cstdint>
#include <optional>
#include <span>

#include "fabric/mapper/mapper_profile.h"
#include "fabric/packet/header_values.h"
#include "fabric/probes/probe_plan.h"
#include "fabric/topology/topology.h"

namespace mrclab {

/// Of the whole frame as it is sent.
size_t probe_bytes(ProbeForm form);

/// What is in a probe beside its way.
struct ProbeTag {
  uint32_t sequence = 0;
  uint32_t nonce = 0;  ///< of STAMP's form the lower half, which is its session's id
  FabricTime sent;
  bool operator==(const ProbeTag&) const = default;
};

struct ProbeFrameSpec {
  ProbeForm form = ProbeForm::kOwn;
  Probe probe;
  ProbeTag tag;
  MacAddress source_mac{}, destination_mac{};
  Ipv6Address own_address{}, carrier{};
  uint8_t dscp = kDscpTrimmable;
};
/// Writes probe_bytes(spec.form) bytes.
void write_probe(const ProbeFrameSpec& spec, std::span<uint8_t> out);

/// A probe as it is found in a frame.
struct SeenProbe {
  ProbeForm form = ProbeForm::kOwn;
  ProbeTag tag;         ///< of STAMP's form without the time, which its sender has
  bool carried = true;  ///< with an outer header
  Ipv6Address outer_destination{}, source{}, destination{};
  bool marked = false;   ///< CE
  bool trimmed = false;  ///< a switch cut it: its queue was full
  bool damaged = false;  ///< its checksum is wrong
};
/// Empty for any bytes that are no probe.
std::optional<SeenProbe> parse_probe(std::span<const uint8_t> frame);

}  // namespace mrclab
