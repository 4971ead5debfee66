#include "routing/node/node_speaker.h"

#include <algorithm>

#include "fabric/base/byte_order.h"
#include "fabric/base/random.h"
#include "fabric/node/event_kind.h"
#include "fabric/packet/headers.h"
#include "fabric/topology/fare.h"
#include "fabric/topology/path.h"

namespace mrclab::routing {
namespace {

constexpr size_t kTcpAndIpv6Bytes = 60;
/// What a frame has room for beside a payload: a SACK's headers.
constexpr size_t kHeaderRoomBytes = kAfterBthOffset + 36 + kIcrcBytes;
constexpr size_t kEthertypeOffset = 12;
constexpr size_t kDestinationOffset = kOuterOffset + 24;
/// How long a session waits to connect again when something else than its carrier was lost. Our choice, because
/// BGP's own 120 s (RFC 4271 section 10) are longer than any run.
constexpr FabricTime kConnectRetry = FabricTime::from_ms(1);

SpeakerTiming timing_of(FareDelays delays) {
  switch (delays) {
    case FareDelays::kFrr: return kFrrTiming;
    case FareDelays::kHardware: return kHardwareTiming;
    case FareDelays::kIdeal: break;
  }
  return kIdealTiming;
}

/// What each kind of node announces and asks for, by the routes that NICs get.
void add_nic_routes(SpeakerParameters& made, const Topology& topology, const NodeSite& site) {
  const NicRoutes routes = nic_routes(topology);
  const bool aggregates = routes == NicRoutes::kAggregates;
  if (site.role == NodeRole::kHost) {
    made.transit = false;
    made.install_unreachable = aggregates;
    if (routes == NicRoutes::kWanted) made.wanted.emplace();
  } else if (site.role == NodeRole::kT0 && aggregates) {
    const uint32_t first = site.index * topology.hosts_per_t0;
    made.aggregates.push_back(Prefix::host(host_address(topology, first)).cut(kRowPrefixBits));
  }
}

}  // namespace

std::string hosts_text(const std::vector<uint32_t>& hosts) {
  std::string text;
  for (size_t first = 0; first < hosts.size();) {
    size_t last = first;
    while (last + 1 < hosts.size() && hosts[last + 1] == hosts[last] + 1) ++last;
    text += (text.empty() ? "h" : ",h") + std::to_string(hosts[first]);
    if (last > first) text += "-h" + std::to_string(hosts[last]);
    first = last + 1;
  }
  return text;
}

bool is_to_link(std::span<const uint8_t> frame) {
  return frame.size() >= kInnerOffset &&
         load_be<uint16_t>(&frame[kEthertypeOffset]) == kEthertypeIpv6 &&
         load_be<uint16_t>(&frame[kDestinationOffset]) == kLinkBlock;
}

SpeakerParameters speaker_parameters(const Topology& topology, NodeId self, uint64_t seed,
                                     uint32_t boot) {
  const NodeSite& site = topology.node(self);
  const FareChoice& fare = topology.routing.fare;
  const NicRoutes nics = nic_routes(topology);
  SpeakerParameters made;
  made.node = self;
  made.seed = boot == 0 ? seed : mix64(seed ^ boot);
  made.as = AsNumber{as_number(topology, self)};
  made.router = RouterId{router_id(self)};
  made.timing = timing_of(fare.delays);
  if (fare.delays != FareDelays::kFrr) made.connect_retry = kConnectRetry;
  made.tcp.mss = static_cast<uint16_t>(
      std::min<size_t>(made.tcp.mss, topology.pmtu + kHeaderRoomBytes - kTcpAndIpv6Bytes));
  add_nic_routes(made, topology, site);
  for (uint32_t i = 0; i < site.ports.size(); ++i) {
    const Port& port = site.ports[i];
    const bool to_host = topology.node(port.peer.node).role == NodeRole::kHost;
    if (to_host && nics == NicRoutes::kOff) continue;
    NeighbourParameters neighbour;
    neighbour.port = PortId{i};
    neighbour.local = link_address(topology, {self, PortId{i}});
    neighbour.remote = link_address(topology, port.peer);
    neighbour.as = AsNumber{as_number(topology, port.peer.node)};
    neighbour.rate = topology.wire(port.out).rate;
    neighbour.is_host = to_host;
    neighbour.takes_filters = to_host && nics == NicRoutes::kWanted;
    neighbour.unreachability = nics == NicRoutes::kAggregates;
    const FabricTime bfd = fare.bfd_interval();
    if (bfd != FabricTime::zero()) neighbour.bfd = BfdParameters{.interval = bfd};
    made.neighbours.push_back(neighbour);
  }
  return made;
}

NodeSpeaker::NodeSpeaker(const NodeEnvironment& environment) : environment_(environment) {
  const Topology& topology = environment.topology;
  for (const Port& port : topology.node(environment.self).ports) {
    rates_.push_back(topology.wire(port.out).rate);
  }
}

void NodeSpeaker::begin_anew(SpeakerParameters parameters) {
  changes_.clear();
  frames_.clear();
  for (NeighbourParameters& neighbour : parameters.neighbours) {
    neighbour.rate = rates_[neighbour.port.value];
  }
  SpeakerEvents& events = *this;
  speaker_ = std::make_unique<Speaker>(std::move(parameters), events);
}

bool NodeSpeaker::receive(PortId port, std::span<const uint8_t> frame, FabricTime now) {
  return is_to_link(frame) && speaker_->receive(port, frame.subspan(kOuterOffset), now);
}

std::string NodeSpeaker::neighbour_at(PortId port) const {
  const Topology& topology = environment_.topology;
  return topology.node(topology.port({environment_.self, port}).peer.node).name;
}

void NodeSpeaker::send(PortId port, Octets packet, FabricTime) {
  // Without a buffer the packet is lost, and TCP sends it again.
  Frame frame = environment_.frames.make(kEthernetBytes + packet.size());
  if (!frame) return;
  const Port& place = environment_.topology.port({environment_.self, port});
  const MacAddress& to = environment_.topology.port(place.peer).mac;
  const std::span<uint8_t> bytes = frame.writable_bytes();
  std::copy(to.begin(), to.end(), bytes.begin());
  std::copy(place.mac.begin(), place.mac.end(), bytes.begin() + 6);
  store_be<uint16_t>(&bytes[kEthertypeOffset], kEthertypeIpv6);
  std::copy(packet.begin(), packet.end(), bytes.begin() + kEthernetBytes);
  frames_.emplace_back(port, std::move(frame));
}

void NodeSpeaker::report_event(std::string_view kind, PortId port, std::string detail,
                               FabricTime now) {
  environment_.observer.event({now, kind, port, {}, {}, {}, {}, std::move(detail)});
}

void NodeSpeaker::session_up(PortId port, FabricTime now) {
  report_event(event_kind::kBgpUp, port, "with " + neighbour_at(port), now);
}

void NodeSpeaker::session_down(PortId port, const std::string& reason, FabricTime now) {
  report_event(event_kind::kBgpDown, port, "with " + neighbour_at(port) + ": " + reason, now);
}

void NodeSpeaker::attribute_fault(PortId port, const AttributeFault& fault, FabricTime now) {
  report_event(event_kind::kBgpFault, port, "from " + neighbour_at(port) + ": " + fault.reason,
               now);
}

void NodeSpeaker::bound_met(PortId port, const std::string& what, FabricTime now) {
  report_event(event_kind::kBgpLimit, port, "with " + neighbour_at(port) + ": " + what, now);
}

void NodeSpeaker::report_changes(FabricTime now) {
  while (!changes_.empty()) {
    const Hops hops = changes_.front().second;
    std::vector<uint32_t> hosts;
    std::erase_if(changes_, [&](const auto& change) {
      if (change.second != hops) return false;
      hosts.push_back(change.first);
      return true;
    });
    std::sort(hosts.begin(), hosts.end());
    std::string detail = hosts_text(hosts) + (hops.empty() ? ": no route" : " by");
    for (const WeightedHop& hop : hops) {
      detail += " " + environment_.topology.port({environment_.self, hop.port}).name() + "*" +
                std::to_string(hop.weight);
    }
    environment_.observer.event({now, event_kind::kFib, {}, {}, {}, {}, {}, std::move(detail)});
  }
}

}  // namespace mrclab::routing
