#pragma once
// Which packets of captures are looked at, for MRC and RoCEv2 alike.

#include <optional>
#include <utility>

#include "fabric/base/ids.h"
#include "fabric/base/units.h"
#include "fabric/topology/topology.h"

namespace mrclab::analysis {

/// The packets to look at. Empty: all.
struct TrafficFilter {
  /// Queue pair of the receiver: the flow's.
  std::optional<Qpn> qp = std::nullopt;
  /// Entropy value of the packet, or of the packet that is answered; the plane likewise.
  std::optional<EntropyValue> ev = std::nullopt;
  std::optional<uint32_t> plane = std::nullopt;
  /// Both directions.
  std::optional<std::pair<Ipv6Address, Ipv6Address>> between = std::nullopt;
  FabricTime from = FabricTime::zero(), until = FabricTime::never();
  /// Does it look at anything but times?
  bool names_packets() const { return qp || ev || plane || between; }
};

}  // namespace mrclab::analysis
