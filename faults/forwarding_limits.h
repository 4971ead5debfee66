#pragma once
// What switches that are not ours cannot be made to do. The kernel and Open vSwitch forward, drop, slow
// down and corrupt; they hold nothing back, mark nothing and trim nothing.

#include <optional>
#include <string>

#include "fabric/effect.h"
#include "fabric/topology.h"

namespace mrclab::faults {

/// Why an effect cannot be had in a fabric: what was found, and what would do.
struct Refusal {
  std::string found;
  std::string expected;
};
std::optional<Refusal> refusal(const Topology& topology, const Effect& effect);

}  // namespace mrclab::faults
