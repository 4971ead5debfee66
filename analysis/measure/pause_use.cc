#include "analysis/measure/pause_use.h"

#include <map>

namespace mrclab::analysis {

std::optional<PauseUse> pause_use(const Topology& topology, const PauseTimes& times) {
  if (times.spans().empty()) return std::nullopt;
  PauseUse use;
  const Wire& first = topology.wire(topology.port(times.spans().front().port).out);
  use.first_pauser = topology.node(first.to.node).name;
  std::map<PortRef, FabricTime> paused;
  for (const PausedSpan& span : times.spans()) paused[span.port] += span.length();
  for (const auto& [port, all] : paused) {
    if (all <= use.longest) continue;
    use.longest = all;
    use.longest_port = topology.port_name(port);
  }
  use.ports = static_cast<uint32_t>(paused.size());
  return use;
}

}  // namespace mrclab::analysis
