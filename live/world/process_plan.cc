#include "live/world/process_plan.h"

#include <algorithm>
#include <thread>

#include "live/bringup/process_names.h"
#include "netio/runtime/gate.h"

namespace mrclab::lab {

uint32_t switch_processes_here() { return std::max(2u, std::thread::hardware_concurrency()); }

ProcessPlan plan_processes(const Topology& topology, bool isolate, uint32_t host_processes,
                           uint32_t switch_processes) {
  ProcessPlan plan;
  plan.process_of_node.assign(topology.nodes.size(), netio::kNoProcess);
  const auto add = [&](std::string name, bool endpoints) {
    plan.processes.push_back({std::move(name), endpoints});
    return static_cast<uint32_t>(plan.processes.size() - 1);
  };
  const uint32_t groups = std::clamp(host_processes, 1u, topology.host_count());
  const uint32_t shares = std::clamp(switch_processes, 1u, std::max(1u, topology.planes));
  const auto share_of = [&](uint32_t plane) { return plane * shares / topology.planes; };
  std::vector<uint32_t> group_process, share_process;
  for (uint32_t g = 0; !isolate && g < groups; ++g) {
    group_process.push_back(add("hosts-" + std::to_string(g), true));
  }
  const auto ours = [](const NodeSite& site) {
    return site.role == NodeRole::kHost || site.forwarding == Forwarding::kSwitchd;
  };
  for (uint32_t first = 0, end = 0; !isolate && first < topology.planes; first = end) {
    while (end < topology.planes && share_of(end) == share_of(first)) ++end;
    const bool any =
        std::any_of(topology.nodes.begin(), topology.nodes.end(), [&](const auto& site) {
          return site.role != NodeRole::kHost && site.plane >= first && site.plane < end &&
                 ours(site);
        });
    share_process.push_back(any ? add(name_of_planes(first, end - 1), false) : netio::kNoProcess);
  }
  for (const NodeSite& site : topology.nodes) {
    const bool host = site.role == NodeRole::kHost;
    if (!ours(site)) continue;
    uint32_t& process = plan.process_of_node[site.id.value];
    if (isolate) {
      process = add(site.name, host);
    } else {
      process = host ? group_process[site.index * groups / topology.host_count()]
                     : share_process[share_of(site.plane)];
    }
  }
  return plan;
}

}  // namespace mrclab::lab
