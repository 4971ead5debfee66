#include "lab/live/process_plan.h"

#include <algorithm>

#include "netio/runtime/gate.h"

namespace mrclab::lab {

ProcessPlan plan_processes(const Topology& topology, bool isolate, uint32_t host_processes) {
  ProcessPlan plan;
  plan.process_of_node.assign(topology.nodes.size(), netio::kNoProcess);
  const auto add = [&](std::string name, bool endpoints) {
    plan.processes.push_back({std::move(name), endpoints});
    return static_cast<uint32_t>(plan.processes.size() - 1);
  };
  const uint32_t groups = std::clamp(host_processes, 1u, topology.host_count());
  std::vector<uint32_t> group_process, plane_process;
  for (uint32_t g = 0; !isolate && g < groups; ++g) {
    group_process.push_back(add("hosts-" + std::to_string(g), true));
  }
  const auto ours = [](const NodeSite& site) {
    return site.role == NodeRole::kHost || site.forwarding == Forwarding::kSwitchd;
  };
  for (uint32_t p = 0; !isolate && p < topology.planes; ++p) {
    const bool any =
        std::any_of(topology.nodes.begin(), topology.nodes.end(), [&](const auto& site) {
          return site.role != NodeRole::kHost && site.plane == p && ours(site);
        });
    plane_process.push_back(any ? add("plane-" + std::to_string(p), false) : netio::kNoProcess);
  }
  for (const NodeSite& site : topology.nodes) {
    const bool host = site.role == NodeRole::kHost;
    if (!ours(site)) continue;
    uint32_t& process = plan.process_of_node[site.id.value];
    if (isolate) {
      process = add(site.name, host);
    } else {
      process = host ? group_process[site.index * groups / topology.host_count()]
                     : plane_process[site.plane];
    }
  }
  return plan;
}

}  // namespace mrclab::lab
