#pragma once
// What a fabric's key `orchestrator` holds: neighbours name themselves over each link (LLDP, fabric/neighbours), switches
// leave out what is not cabled as planned, and one that comes back is provisioned and checked before it forwards.

#include "fabric/mapper/mapper_profile.h"

namespace mrclab {

struct OrchestratorProfile {
  bool on = false;
  RttTime period{4, {}};  ///< between two frames of a port; our choice: it stands for LLDP's 30 s
  RttTime provisioning{10, {}};  ///< until a switch that has power again has its table; our choice
  bool check = true;             ///< it forwards only when its table and neighbours are as planned
  bool operator==(const OrchestratorProfile&) const = default;
};

}  // namespace mrclab
