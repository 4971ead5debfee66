#pragma once
// How many routes NICs and switches hold where they speak BGP (draft-xu-idr-fare-in-mpson section 4), for each
// reduction of what NICs receive (fabric/topology/routing.h: NicRoutes): `mrclab plan --routing fare`.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fabric/topology/routing.h"
#include "plan/fabric_plan.h"

namespace mrclab::lab {

/// Prefixes of one table, and their paths: one per neighbour that announced the prefix.
struct TableSize {
  uint64_t prefixes = 0, paths = 0;
};
struct NicRoutePlan {
  uint64_t hosts = 0, rows = 0, job = 0;
  uint32_t planes = 0;
  struct Way {
    NicRoutes routes = NicRoutes::kAll;
    TableSize nic, t0, t1;
    uint64_t filter = 0;    ///< entries that a NIC sends to each of its leaves
    uint64_t per_lost = 0;  ///< more prefixes in a NIC for each host that one plane does not reach
  };
  std::vector<Way> ways;
};

/// `job`: hosts that a host talks to, with itself; at most all count.
NicRoutePlan plan_nic_routes(const FabricPlan& plan, uint64_t job);
std::string nic_routes_text(const NicRoutePlan& plan);
/// {"hosts", "rows", "planes", "job", "ways": [{"nics", "nic": {"prefixes", "paths"}, "t0", "t1", "filter",
/// "per_lost_host"}]}.
nlohmann::ordered_json nic_routes_json(const NicRoutePlan& plan);

}  // namespace mrclab::lab
