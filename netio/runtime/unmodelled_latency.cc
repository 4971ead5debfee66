#include "netio/runtime/unmodelled_latency.h"

#include <algorithm>

#include "fabric/packet/headers.h"
#include "fabric/paths/path_list.h"
#include "fabric/topology/forwarder.h"
#include "fabric/topology/path.h"

namespace mrclab::netio {
namespace {

constexpr int64_t kMostSwitches = 8;

}  // namespace

UnmodelledLatency::UnmodelledLatency(const Topology& topology)
    : topology_(topology), foreign_planes_(topology.planes, true) {
  for (const NodeSite& site : topology.nodes) {
    const bool ours = site.role != NodeRole::kHost && is_ours(site);
    if (ours && site.plane < topology.planes) foreign_planes_[site.plane] = false;
  }
}

FabricTime UnmodelledLatency::latency_of(const Port& port, std::span<const uint8_t> frame) const {
  if (port.plane >= foreign_planes_.size() || !foreign_planes_[port.plane]) return {};
  const int64_t switches = switches_crossed(frame);
  if (switches < 1 || switches > kMostSwitches) return {};
  const Wire& wire = topology_.wire(port.in);
  FabricTime pipeline = topology_.switch_latency;
  if (topology_.switching == Switching::kCutThrough) {
    pipeline -= cut_through_lead(wire.rate, pipeline, wire_length({frame.size()}));
  }
  return pipeline * switches + wire.propagation * (switches + 1);
}

/// The number of switches that the frame crossed, by its hop limit; 0: unknown.
int64_t UnmodelledLatency::switches_crossed(std::span<const uint8_t> frame) const {
  const auto encapsulation = encapsulation_of(frame);
  if (!encapsulation) return 0;
  const bool ipv4 = *encapsulation == Encapsulation::kIpv4;
  const int64_t counted = Ipv6Header{}.hop_limit - frame[kEthernetBytes + (ipv4 ? 8 : 7)];
  if (*encapsulation != Encapsulation::kIpv6 || topology_.decap == Decap::kNic) return counted;
  // A leaf has taken the carrier off, and only it counted this header's hop.
  const auto path = path_of(entropy_of(frame, *encapsulation));
  Ipv6Address source{}, destination{};
  std::copy_n(&frame[kEthernetBytes + 8], source.size(), source.begin());
  std::copy_n(&frame[kEthernetBytes + 24], destination.size(), destination.begin());
  const auto from = host_of_address(topology_, source),
             to = host_of_address(topology_, destination);
  if (!path || !from || !to || !has_path(topology_, *from, *to, *path)) return counted;
  return static_cast<int64_t>(exits_of(topology_, *from, *to, *path).size()) - 1;
}

}  // namespace mrclab::netio
