#pragma once
// The fabric as a page gets it: its nodes, links, optics and queue pairs, and what faults impair, numbered as in the part
// of it that is recorded.

#include <nlohmann/json.hpp>

#include "faults/fault.h"
#include "scenario/spec/scenario.h"
#include "session/recording/followed_part.h"

namespace mrclab::lab {

inline constexpr size_t kMaxImpairments = 4096;  ///< sent to a page; it could not show more

/// [{"name", "role", "plane", "index", "ports": [names]}]. Of a switch of which only some ports are in the part:
/// "ports": {"number": name}.
nlohmann::json nodes_json(const Topology& topology, const FollowedPart& part);
nlohmann::json links_json(const Topology& topology, const FollowedPart& part);
/// Those with a link in the part.
nlohmann::json optics_json(const Topology& topology, const FollowedPart& part);
/// As describe_queue_pairs(), of the hosts of the part.
nlohmann::json queue_pairs_json(const Scenario& scenario, const FollowedPart& part);
/// When what is how much impaired: for drawing it, at any instant. `room`: so many more are sent.
nlohmann::json impairments_json(const faults::Fault& fault, const Topology& topology,
                                const FollowedPart& part, size_t& room);
/// Does nothing pass while a fault holds this?
bool stops_all(const Effect& effect);

}  // namespace mrclab::lab
