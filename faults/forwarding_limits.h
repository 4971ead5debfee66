#pragma once
// Effects that switches which are not our daemon's cannot execute. The kernel and Open vSwitch forward,
// drop, slow down and corrupt; they cannot delay, mark or trim. Our program in the kernel marks and trims, too.

#include <optional>
#include <string>

#include "fabric/node/effect.h"
#include "fabric/topology/topology.h"
#include "faults/fault.h"

namespace mrclab::faults {

/// Why a fabric cannot execute an effect: what was found, and what would do.
struct Refusal {
  std::string found;
  std::string expected;
};
std::optional<Refusal> refusal(const Topology& topology, const Effect& effect);
/// The same of a fault, which may not hold more than kMaxHoldsPerFault either.
std::optional<Refusal> refusal(const Topology& topology, const Fault& fault);

}  // namespace mrclab::faults
