#include "netio/untaken_time.h"

#include "fabric/forwarder.h"
#include "fabric/headers.h"

namespace mrclab::netio {

UntakenTime::UntakenTime(const Topology& topology)
    : topology_(topology), foreign_planes_(topology.planes, true) {
  for (const NodeSite& site : topology.nodes) {
    const bool ours = site.role != NodeRole::kHost && is_ours(site);
    if (ours && site.plane < topology.planes) foreign_planes_[site.plane] = false;
  }
}

FabricTime UntakenTime::of(const Port& port, std::span<const uint8_t> frame) const {
  constexpr size_t kHopLimitAt = 14 + 7;
  constexpr int64_t kHopLimit = Ipv6Header{}.hop_limit, kMostSwitches = 8;
  if (port.plane >= foreign_planes_.size() || !foreign_planes_[port.plane]) return {};
  if (frame.size() <= kHopLimitAt) return {};
  const int64_t switches = kHopLimit - frame[kHopLimitAt];
  if (switches < 1 || switches > kMostSwitches) return {};
  return topology_.switch_latency * switches + topology_.wire(port.in).propagation * (switches + 1);
}

}  // namespace mrclab::netio
