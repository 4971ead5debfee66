#pragma once
// What a page is sent of a fabric that is summarised: its shape, where faults are, and what every switch did, window by
// window. Details are asked for (whole_look.h); the racks that are followed have the messages of other fabrics.
//
//   tally    u32 3, branch, first window, windows, planes, switches; per window: u32 packets sent again, u32 0;
//            per plane f64 bytes received, u32 lost, trimmed, marked, 0; per switch u8 load (255: line rate of all of
//            its ports), u8 queue (200: the trim threshold), u16 lost, trimmed, marked (65,535: or more)

#include <nlohmann/json.hpp>
#include <string>

#include "faults/fault.h"
#include "session/branch.h"

namespace mrclab::lab {

inline constexpr size_t kMaxFaultPlaces = 20'000;  ///< of faults, in one message

/// Null where the fabric is not summarised. {"racks", "hosts", "hosts_per_rack", "nodes", "links", "followed": [racks],
/// "most", "line_bps": what all hosts can receive, "tiers": [{"role", "count", "first": [by plane]}]}. `first`: the place
/// of the tier's first switch in a tally's list.
nlohmann::json whole_json(const Branch& branch);
/// Where a fault is: [{"effect", "dark", "from_ps", "until_ps", "switches": [[place in a tally's list, links]],
/// "hosts": [[number, links]]}], links: how many of it are impaired, 0: it is the node itself. Empty where the fabric is
/// not summarised. `room`: so many more places are sent.
nlohmann::json places_json(const faults::Fault& fault, const Topology& topology,
                           const FollowedPart& part, size_t& room);
/// Windows [from, to).
std::string tally_message(const FabricTally& tally, const Topology& topology, uint32_t branch,
                          size_t from, size_t to);

}  // namespace mrclab::lab
