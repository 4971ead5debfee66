#pragma once
// One packet from the beginning of its life to its end: where it was when, and every header field at each
// place, so that what a hop changed can be seen. The world is simulated again for it, watched for this
// packet alone: what it shows are the bytes that were on the wire.

#include <nlohmann/json.hpp>

#include "session/branch.h"

namespace mrclab::lab {

/// Which packet: of a flow, by its number.
struct PacketName {
  uint32_t source = 0, destination = 0;  ///< host numbers
  Qpn qp;                                ///< destination
  Psn psn;
};

inline constexpr size_t kMaxPlaces = 512;  ///< records of one packet that are shown

/// {"qp", "psn", "source", "destination", "places": [{"t_ps", "node", "port", "side": in | out, "event",
/// "cause"?, "attempt", "bytes", "layers": [{"name", "label", "source", "fields": [{"name", "label",
/// "value", "about"?}]}]}], "left_out"}, by time; an attempt is counted where its source sends it. Up to
/// where the branch was simulated. `go_on` as in Branch::reach.
nlohmann::json look_at_packet(const Branch& branch, const PacketName& name,
                              const SimWorld::GoOn& go_on = {});

/// The headers of a frame, outermost first, as the "layers" above.
nlohmann::json layers_of(std::span<const uint8_t> frame);

}  // namespace mrclab::lab
