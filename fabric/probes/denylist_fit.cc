#include "fabric/probes/denylist_fit.h"

#include "fabric/probes/denied_part.h"
#include "fabric/probes/mapper_message.h"
#include "fabric/topology/pattern.h"

namespace mrclab {

uint32_t collector_of(const Topology& topology) {
  if (topology.denylist.collector.empty()) return 0;
  NameResolver names(topology, 0);
  return topology.node(names.hosts(topology.denylist.collector).front()).index;
}

std::optional<std::string> denylist_misfit(const Topology& topology) {
  const DenylistPolicy& policy = topology.denylist;
  if (!policy.on) return std::nullopt;
  if (!topology.regular() || topology.t2_per_plane > 0) {
    return "a denylist in a fabric that is no regular planes of two tiers";
  }
  if (topology.authorise != Authorise::kOff && !topology.tenants.empty()) {
    return "a denylist, whose collector hears of all hosts, among tenants under `authorise`";
  }
  if (topology.routing.is_fare()) return "a denylist where switches route by themselves";
  for (const std::string& text : policy.fixed) parts_named(topology, text);
  for (const DenylistPolicy::Drain& drain : policy.drains) parts_named(topology, drain.part);
  collector_of(topology);
  if (topology.mapper.on) return mapper_message_misfit(topology);
  if (!policy.drains.empty()) return "a drain, without a mapper whose agents are told of it";
  if (policy.decides()) return "a denylist that probes decide on, without a mapper";
  return std::nullopt;
}

}  // namespace mrclab
