#include "fabric/topology/topology_builder.h"

#include <algorithm>
#include <utility>

#include "fabric/topology/pattern.h"

namespace mrclab {
namespace {

constexpr uint64_t kOuterAndMrcHeaders =
    40 + 40 + 8 + 12 + 4 + 4 + 16 + 4;  // with ICRC, without payload
constexpr uint64_t kEthernetHeader = 14;
constexpr uint64_t kSackFrame = kEthernetHeader + 40 + 40 + 8 + 12 + 36 + 4;

/// Thresholds of a port whose link has that rate.
QueueProfile queue_profile(const FabricShape& fabric, BitRate rate, FabricTime base_rtt) {
  const QueueShape& shape = fabric.queues;
  const Bytes plane_bdp = bytes_in(rate, base_rtt);
  const auto times = [plane_bdp](uint32_t thousandths) {
    return Bytes{plane_bdp.value * thousandths / 1000};
  };
  QueueProfile q;
  q.ecn = shape.ecn;
  q.trim = shape.trim;
  q.ecn_min = times(shape.ecn_min);
  q.ecn_max = times(shape.ecn_max);
  q.ecn_last_hop = shape.ecn_last_hop;
  q.trim_threshold = times(shape.trim_threshold);
  q.trim_threshold_last_hop = times(shape.trim_threshold_last_hop);
  q.control_limit = times(shape.control_limit);
  q.trimmed_limit = times(shape.trimmed_limit);
  q.tail_drop = times(shape.tail_drop);
  q.red_min = times(shape.red_min);
  q.red_max = times(shape.red_max);
  q.red_most = fabric.lossless.red_most;
  if (const auto of_source = red_thresholds(fabric.lossless.red, rate)) {
    q.red_min = of_source->min;
    q.red_max = of_source->max;
    q.red_most = of_source->most;
  }
  q.lossless_limit = times(shape.lossless_limit);
  q.buffer_share = times(shape.buffer_share);
  return q;
}

/// Why these two cables cannot be exchanged; empty: they can.
std::string misfit_of(const Topology& topology, PortRef a, PortRef b) {
  const PortRef x = topology.port(a).peer, y = topology.port(b).peer;
  if (a == b) return "one port twice";
  if (x == b) return "both ends of one cable";
  const auto bad = [&](PortRef one, PortRef other) {
    return one.node == other.node || (topology.node(one.node).role == NodeRole::kHost &&
                                      topology.node(other.node).role == NodeRole::kHost);
  };
  if (bad(x, b) || bad(y, a)) {
    return "ports whose cables would join two hosts, or a node to itself";
  }
  const Link one = topology.link(topology.port(a).link);
  if (one.rate != topology.link(topology.port(b).link).rate) return "ports of two rates";
  for (const PortRef end : {a, b, x, y}) {
    for (const auto& [port, planned] : topology.replugged) {
      if (port == end) return "a cable that an earlier pair has exchanged";
    }
  }
  return {};
}

/// In the link that it belongs to, `port` takes the place of `was`.
void plug_in(Cabling& cables, PortRef port, PortRef was) {
  Cabling::Plug& here = cables.plug(port);
  Link& link = cables.kept_links[here.link.value];
  (link.a == was ? link.a : link.b) = port;
  if (link.b.node.value < cables.hosts) {  // the lower end is `a`
    std::swap(link.a, link.b);
    link.turned = !link.turned;
  }
  cables.plug(link.a).lower = true;
  cables.plug(link.b).lower = false;
}

void exchange(Topology& topology, PortRef a, PortRef b) {
  const PortRef x = topology.port(a).peer, y = topology.port(b).peer;
  topology.replugged.insert(topology.replugged.end(), {{a, x}, {b, y}, {x, a}, {y, b}});
  topology.change_cabling([&](Cabling& cables) {
    Cabling::Plug& one = cables.plug(a);
    Cabling::Plug& other = cables.plug(b);
    std::swap(one.link, other.link);
    plug_in(cables, a, b);
    plug_in(cables, b, a);
    if (one.optic == other.optic) return;
    const auto put_into_optic = [&](OpticId optic, LinkId was, LinkId now) {
      if (!optic.valid()) return;
      std::vector<LinkId>& links = cables.kept_optics[optic.value].links;
      std::replace(links.begin(), links.end(), was, now);
    };
    put_into_optic(one.optic, other.link, one.link);
    put_into_optic(other.optic, one.link, other.link);
  });
}

PortRef port_named(const Topology& topology, const std::string& name) {
  const std::vector<PortRef> found = NameResolver(topology, 0).ports(name);
  if (found.size() != 1) throw NameError(in_quotes(name), "the name of one port");
  return found.front();
}

}  // namespace

void derive_timing(const FabricShape& shape, uint32_t switches, Topology& topology) {
  const Bytes data = wire_length({kEthernetHeader + kOuterAndMrcHeaders + shape.pmtu});
  const Bytes sack = wire_length({kSackFrame});
  const int64_t between = switches - 1;
  const auto saved = [&](Bytes size) {
    FabricTime sum;
    for (uint32_t i = 0; i < switches; ++i) {
      const BitRate in = i == 0 ? shape.host_rate : shape.fabric_rate;
      const BitRate out = i + 1 == switches ? shape.host_rate : shape.fabric_rate;
      if (out <= in) sum += cut_through_lead(in, shape.switch_latency, size);
    }
    return sum;
  };
  const auto crossing = [&](Bytes size) {
    FabricTime t = serialization_time(size, shape.host_rate) * 2 +
                   serialization_time(size, shape.fabric_rate) * between;
    t += shape.propagation * (switches + 1) + shape.switch_latency * switches;
    if (shape.switching == Switching::kCutThrough) t -= saved(size);
    return t + shape.host_latency;
  };
  topology.longest_path = switches;
  topology.base_rtt = crossing(data) + crossing(sack);
  derive_queues(shape, topology);
}

void derive_queues(const FabricShape& shape, Topology& topology) {
  topology.lossless = shape.lossless;
  topology.queues = queue_profile(shape, shape.host_rate, topology.base_rtt);
  topology.fabric_queues = queue_profile(shape, shape.fabric_rate, topology.base_rtt);
}

Topology common_outline(const FabricShape& shape) {
  Topology topology;
  topology.usids = UsidLayout::of(shape.address_plan);
  topology.name = shape.name;
  topology.pmtu = shape.pmtu;
  topology.nics_per_node = shape.nics_per_node;
  topology.switch_latency = shape.switch_latency;
  topology.host_latency = shape.host_latency;
  topology.host_rate = shape.host_rate;
  topology.wires = shape.wires;
  topology.switching = shape.switching;
  topology.routing = shape.routing;
  topology.decap = shape.decap;
  topology.segments = shape.segments;
  topology.nic = shape.nic;
  topology.mapper = shape.mapper;
  topology.orchestrator = shape.orchestrator;
  topology.denylist = shape.denylist;
  topology.dscps = shape.dscps;
  topology.line_card_ports = shape.line_card_ports;
  return topology;
}

TopologyBuilder::TopologyBuilder(const FabricShape& shape, Topology outline)
    : shape_(shape), topology_(std::move(outline)) {
  if (!shape.graph.empty()) return;
  // A plane has at most so many links below its T2s, and the builder adds those of one plane.
  const size_t links = size_t{shape.t0} * (shape.hosts_per_t0 + shape.t1);
  topology_.nodes.reserve(topology_.hosts +
                          size_t{shape.planes} * (shape.t0 + shape.t1 + shape.t2));
  cables_.kept_links.reserve(links);
  added_.reserve(2 * links);
}

NodeId TopologyBuilder::add_node(NodeRole role, uint32_t plane, uint32_t index, std::string name,
                                 const std::string& plane_name, Usid usid, uint32_t pod) {
  NodeSite site;
  site.id = NodeId{static_cast<uint32_t>(topology_.nodes.size())};
  site.role = role;
  site.plane = plane;
  site.index = index;
  site.pod = pod;
  site.usid = usid;
  site.name = std::move(name);
  if (role != NodeRole::kHost) {
    site.forwarding = shape_.forwarding.of(plane_name, site.name);
    site.speaker = shape_.speaker.of(plane_name, site.name);
  }
  topology_.nodes.push_back(std::move(site));
  return topology_.nodes.back().id;
}

PortRef TopologyBuilder::add_port(NodeId node, uint32_t plane, char kind, uint32_t number) {
  port_counts_.resize(topology_.nodes.size());
  added_.push_back({node,
                    {.number = static_cast<uint16_t>(number),
                     .plane = static_cast<uint16_t>(plane),
                     .kind = kind}});
  return {node, PortId{port_counts_[node.value]++}};
}

void TopologyBuilder::connect(PortRef a, PortRef b, BitRate rate) {
  const LinkId link{static_cast<uint32_t>(cables_.kept_links.size())};
  cables_.kept_links.push_back({link, false, a, b, rate, shape_.propagation});
}

/// The ports were added in the order of the links; their plugs are in the order of the nodes.
void TopologyBuilder::place_plugs() {
  const uint32_t switches = static_cast<uint32_t>(topology_.nodes.size()) - cables_.hosts;
  const uint32_t kept = cables_.hosts + switches / cables_.copies;
  port_counts_.resize(kept);
  uint32_t first = 0;
  for (uint32_t node = 0; node < kept; ++node) {
    const NodeSite& site = topology_.nodes[node];
    cables_.places.push_back({first, site.index, static_cast<uint16_t>(site.plane), site.role});
    first += std::exchange(port_counts_[node], 0);
  }
  cables_.places.push_back({.first = first});
  cables_.plugs.resize(first);
  for (const AddedPort& port : added_) {
    const uint32_t number = port_counts_[port.node.value]++;
    cables_.plug({port.node, PortId{number}}) = port.plug;
  }
  added_ = {};
}

void TopologyBuilder::plug_links() {
  const UsidLayout& usids = topology_.usids;
  for (const Link& link : cables_.kept_links) {
    Cabling::Plug& lower = cables_.plug(link.a);
    Cabling::Plug& upper = cables_.plug(link.b);
    lower.link = upper.link = link.id;
    lower.lower = true;
    if (link.a.node.value >= cables_.hosts) continue;
    // Local to the switch, which finds its hosts by them; the plane is in them all the same.
    const uint32_t plane = topology_.nodes[link.b.node.value].plane;
    lower.nic_usid = usids.make(UsidRole::kNicPort, plane, upper.number);
    lower.kernel_usid = usids.make(UsidRole::kHostKernel, plane, upper.number);
  }
  if (cables_.copies > 1) {
    cables_.usid_step =
        usids.make(UsidRole::kNicPort, 1, 0).value - usids.make(UsidRole::kNicPort, 0, 0).value;
  }
}

void TopologyBuilder::finish_cables(uint32_t planes) {
  cables_.hosts = topology_.hosts;
  cables_.copies = planes;
  place_plugs();
  plug_links();
  share_optics(NodeRole::kT0, false, shape_.links_per_optic, "o");
  share_optics(NodeRole::kT0, true, shape_.uplinks_per_optic, "uo");
  share_optics(NodeRole::kT1, true, shape_.t1_uplinks_per_optic, "uo");
  topology_.set_cabling(std::exchange(cables_, {}));
}

void TopologyBuilder::set_link_rates() {
  if (shape_.link_rates.empty()) return;
  NameResolver names(topology_, 0);
  topology_.change_cabling([&](Cabling& cables) {
    for (const LinkRate& other : shape_.link_rates) {
      for (const LinkId id : names.links(other.links)) {
        cables.kept_links[id.value].rate = other.rate;
      }
    }
  });
}

/// Links of each switch of a tier that lead up or to hosts, `links_each` to a transceiver.
void TopologyBuilder::share_optics(NodeRole role, bool up, uint32_t links_each,
                                   std::string_view letters) {
  if (links_each == 0) return;
  cables_.optic_kinds.push_back(static_cast<uint32_t>(cables_.kept_optics.size()));
  for (uint32_t node = 0; node + 1 < cables_.places.size(); ++node) {
    const NodeSite& site = topology_.nodes[node];
    if (site.role != role) continue;
    uint32_t links = 0;
    for (uint32_t at = cables_.places[node].first; at < cables_.places[node + 1].first; ++at) {
      Cabling::Plug& plug = cables_.plugs[at];
      const bool to_host = cables_.kept_links[plug.link.value].a.node.value < cables_.hosts;
      if (up ? to_host || !plug.lower : !to_host) continue;
      const uint32_t place = links++;
      if (place % links_each == 0) {
        cables_.kept_optics.push_back(
            {site.name + ":" + std::string(letters) + std::to_string(place / links_each), {}});
      }
      plug.optic = OpticId{static_cast<uint32_t>(cables_.kept_optics.size()) - 1};
      cables_.kept_optics.back().links.push_back(plug.link);
    }
  }
}

void TopologyBuilder::add_power_zones() {
  std::vector<PowerZone>& zones = topology_.power_zones;
  for (const ZoneShape& zone : shape_.power_zones) {
    zones.push_back({zone.name, {}});
    NameResolver names(topology_, 0);
    for (const std::string& pattern : zone.nodes) {
      for (const NodeId node : names.nodes(pattern)) zones.back().nodes.push_back(node);
    }
  }
  if (!zones.empty()) return;
  const bool several = shape_.nics_per_node > 1;
  if (several) {  // a node has one feed, whatever its NICs hang on
    for (uint32_t n = 0; n < topology_.hosts / shape_.nics_per_node; ++n) {
      zones.push_back({node_name(n), {}});
    }
    for (uint32_t h = 0; h < topology_.hosts; ++h) {
      zones[topology_.nic_place(h).node].nodes.push_back(NodeId{h});
    }
  }
  if (!shape_.graph.empty()) return;
  const size_t racks = zones.size();
  for (uint32_t row = 0; row < shape_.t0; ++row)
    zones.push_back({"rack-" + std::to_string(row), {}});
  for (uint32_t i = 0; i < shape_.t1; ++i) zones.push_back({"spine-" + std::to_string(i), {}});
  for (uint32_t i = 0; i < shape_.t2; ++i)
    zones.push_back({"super-spine-" + std::to_string(i), {}});
  for (const NodeSite& site : topology_.nodes) {
    const uint32_t rack =
        site.role == NodeRole::kHost ? topology_.host_row(site.index) : site.index;
    if (several && site.role == NodeRole::kHost) continue;
    const size_t zone = site.role == NodeRole::kT1   ? shape_.t0 + site.index
                        : site.role == NodeRole::kT2 ? shape_.t0 + shape_.t1 + site.index
                                                     : rack;
    zones[racks + zone].nodes.push_back(site.id);
  }
}

void swap_cables(const FabricShape& shape, Topology& topology) {
  for (const auto& [first, second] : shape.miscabled) {
    const PortRef a = port_named(topology, first), b = port_named(topology, second);
    const std::string misfit = misfit_of(topology, a, b);
    if (!misfit.empty()) {
      throw NameError(in_quotes(first) + " and " + in_quotes(second) + ", " + misfit,
                      "two ports whose cables can be exchanged");
    }
    exchange(topology, a, b);
  }
}

}  // namespace mrclab
