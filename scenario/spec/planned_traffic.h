#pragma once
// What the workloads of a scenario send, as far as its file shows it: who writes data to whom, and from when on.

#include <cstdint>
#include <vector>

#include "scenario/spec/scenario_value.h"

namespace mrclab::lab {

/// The data of one workload from one host to another.
struct PlannedFlow {
  uint32_t from = 0;
  uint32_t to = 0;
  FabricTime start;
};

/// All of them, a pair of hosts once for each workload. Empty: a workload cannot be planned.
std::vector<PlannedFlow> planned_flows(const Scenario& scenario);

/// Does a workload's data name its paths itself? Not where the hash of switches or FARE chooses them.
bool names_paths(const Scenario& scenario);

/// Refuses work of which nothing happens before `end`: it begins later, or its load is too low to send anything by then.
/// `entry` is where it stands. Throws InputError.
void require_possible_work(const YamlValue& entry, const endpoint::WorkloadSpec& spec,
                           const Topology& topology, FabricTime end);

}  // namespace mrclab::lab
