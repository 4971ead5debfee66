#include "faults/carrier_outage.h"

#include <map>
#include <utility>

namespace mrclab::faults {

std::vector<CarrierOutage> carrier_outages(const Topology& topology,
                                           const std::vector<ScheduledEffect>& schedule) {
  std::map<LinkId, std::pair<bool, bool>> carrier;  // true: lost, at ends a and b
  std::map<LinkId, size_t> open;
  std::vector<CarrierOutage> outages;
  for (const ScheduledEffect& scheduled : schedule) {
    const auto* effect = std::get_if<PortCarrier>(&scheduled.effect);
    if (effect == nullptr) continue;
    const LinkId link = topology.port(effect->port).link;
    auto& [lost_a, lost_b] = carrier[link];
    (topology.link(link).a == effect->port ? lost_a : lost_b) = !effect->up;
    const bool both = lost_a && lost_b;
    const auto found = open.find(link);
    if (both && found == open.end()) {
      open[link] = outages.size();
      outages.push_back({link, scheduled.at, FabricTime::never()});
    } else if (!both && found != open.end()) {
      outages[found->second].up = scheduled.at;
      open.erase(found);
    }
  }
  return outages;
}

}  // namespace mrclab::faults
