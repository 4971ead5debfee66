#pragma once
// Which racks of a fabric that is too large to be shown packet by packet are followed.

#include <cstdint>
#include <optional>
#include <vector>

#include "scenario/spec/scenario.h"

namespace mrclab::lab {

/// The rack that a host or T0 belongs to; empty: any other node.
std::optional<uint32_t> rack_of(const Topology& topology, NodeId node);
/// How many can be followed at once: those with at most 65,536 wires together (our choice: 2,000 packets a microsecond and
/// rack are recorded, and a page draws them), and 32.
uint32_t most_racks(const Topology& topology);
/// Those of the hosts that `follow` names; if it names none, those that faults are about, where
/// these are one or two; else the first. At most
/// most_racks(). Of a fabric that is summarised.
std::vector<uint32_t> first_racks(const Scenario& scenario);

}  // namespace mrclab::lab
