#include "endpoint/host/host_routes.h"

#include <algorithm>
#include <utility>

#include "fabric/topology/fare.h"
#include "fabric/topology/path.h"

namespace mrclab::endpoint {

HostRoutes::HostRoutes(HostShared& host, NicPorts& ports)
    : NodeSpeaker(host.environment), host_(host), ports_(ports) {}

bool HostRoutes::nics_speak_bgp(const Topology& topology) {
  return nic_routes(topology) != NicRoutes::kOff;
}

void HostRoutes::start(const std::vector<uint32_t>& wanted) {
  const Topology& topology = host_.topology;
  changed_.clear();
  routing::SpeakerParameters parameters = routing::speaker_parameters(
      topology, host_.environment.self, host_.environment.seed, next_boot());
  if (parameters.wanted) {
    for (const uint32_t host : wanted) {
      parameters.wanted->push_back(routing::Prefix::host(host_address(topology, host)));
    }
  }
  begin_anew(std::move(parameters));
  for (uint32_t port = 0; port < ports_.size(); ++port) {
    live_speaker().set_carrier(PortId{port}, ports_.is_live(port), host_.now);
  }
  live_speaker().originate(routing::Prefix::host(host_address(topology, host_.self)), host_.now);
  live_speaker().start(host_.now);
}

void HostRoutes::set_rate(PortId port, BitRate rate) {
  note_rate(port, rate);
  live_speaker().set_rate(port, rate, host_.now);
}

void HostRoutes::run() {
  live_speaker().run(host_.now);
  report_changes(host_.now);
}

const routing::FibEntry* HostRoutes::entry_of(uint32_t host) const {
  const routing::RouteTable& table = speaker().table();
  const routing::Prefix own = routing::Prefix::host(host_address(host_.topology, host));
  const auto found = table.routes().find(own);
  if (found != table.routes().end() && found->second.written.known) return &found->second.written;
  const auto* covering =
      table.covering(own, [](const routing::RouteEntry& entry) { return entry.written.known; });
  return covering != nullptr ? &covering->second.written : nullptr;
}

std::vector<uint32_t> HostRoutes::plane_weights(uint32_t host) const {
  std::vector<uint32_t> weights(host_.topology.planes, 0);
  if (host == host_.self) return weights;
  if (const routing::FibEntry* entry = entry_of(host)) {
    for (const routing::WeightedHop& hop : entry->hops) weights[hop.port.value] = hop.weight;
  }
  return weights;
}

std::vector<uint32_t> HostRoutes::take_changed() {
  std::sort(changed_.begin(), changed_.end());
  changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
  return std::exchange(changed_, {});
}

void HostRoutes::fib_changed(const routing::Prefix& prefix, const routing::FibEntry&, FabricTime) {
  const Topology& topology = host_.topology;
  const auto change = [&](uint32_t host) {
    const routing::FibEntry* entry = entry_of(host);
    note_change(host, entry != nullptr ? entry->hops : Hops{});
    changed_.push_back(host);
  };
  if (prefix.length() == routing::Prefix::kMaxLength) {
    const auto host = host_of_address(topology, prefix.address());
    if (host && *host != host_.self) change(*host);
    return;
  }
  for (uint32_t host = 0; host < topology.host_count(); ++host) {
    if (host == host_.self) continue;
    const routing::Prefix own = routing::Prefix::host(host_address(topology, host));
    const auto found = speaker().table().routes().find(own);
    const bool more_specific =
        found != speaker().table().routes().end() && found->second.written.known;
    if (prefix.covers(own) && !more_specific) change(host);
  }
}

}  // namespace mrclab::endpoint
