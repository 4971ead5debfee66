#pragma once
// Which daemon of a live lab runs which nodes.

#include <cstdint>
#include <string>
#include <vector>

#include "fabric/topology.h"

namespace mrclab::lab {

/// By default one daemon runs the switches of a plane, and each of `host_processes` runs a share of
/// the hosts; isolated, every node has a daemon of its own.
struct ProcessPlan {
  struct Process {
    std::string name;  ///< "plane-3", "hosts-0", or the node's name
    bool endpoints = false;
  };
  std::vector<Process> processes;
  std::vector<uint32_t> process_of_node;  ///< by NodeId; kNoProcess: the kernel forwards there
};
ProcessPlan plan_processes(const Topology& topology, bool isolate, uint32_t host_processes);

}  // namespace mrclab::lab
