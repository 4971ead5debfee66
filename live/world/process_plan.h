#pragma once
// Which daemon of a live lab runs which nodes.

#include <cstdint>
#include <string>
#include <vector>

#include "fabric/topology/topology.h"

namespace mrclab::lab {

/// One daemon for each processor, two at least: more of them only wake up more often, each with fewer frames to send
/// at once (tests/bench/README.md).
uint32_t switch_processes_here();

/// Each of `switch_processes` daemons runs the switches of a share of the planes, each of `host_processes` a share of
/// the hosts; isolated, every node has a daemon of its own.
struct ProcessPlan {
  struct Process {
    std::string name;  ///< "plane-3", "planes-0-3", "hosts-0", or the node's name
    bool endpoints = false;
  };
  std::vector<Process> processes;
  std::vector<uint32_t> process_of_node;  ///< by NodeId; kNoProcess: the kernel forwards there
};
ProcessPlan plan_processes(const Topology& topology, bool isolate, uint32_t host_processes,
                           uint32_t switch_processes = switch_processes_here());

}  // namespace mrclab::lab
