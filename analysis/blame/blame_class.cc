#include "analysis/blame/blame_class.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace mrclab::analysis {
namespace {

/// Hosts of the zone report nothing without power; those that hang on its switches report their ports dark.
bool zone_ruled_out(const Topology& topology, const PortLight& light, const DarkWords& dark,
                    const Component& zone, FabricTime from, FabricTime until) {
  const std::vector<NodeId>& nodes = topology.power_zones[zone.index].nodes;
  for (const NodeId id : nodes) {
    const NodeSite& site = topology.node(id);
    if (site.role == NodeRole::kHost) {
      if (dark.speakers.contains(site.index)) return true;
      continue;
    }
    for (const Port& port : site.ports) {
      const NodeSite& peer = topology.node(port.peer.node);
      const bool outside = std::find(nodes.begin(), nodes.end(), peer.id) == nodes.end();
      const bool host = peer.role == NodeRole::kHost;
      if (host && outside && light.lit(peer.index, port.peer.port.value, from, until)) return true;
    }
  }
  return false;
}

/// Does this hold of some host's port (host, plane) at one of these links?
template <class Holds>
bool any_port_of_hosts(const Topology& topology, const std::vector<LinkId>& links,
                       const Holds& holds) {
  return std::any_of(links.begin(), links.end(), [&](LinkId id) {
    for (const PortRef end : {topology.link(id).a, topology.link(id).b}) {
      const NodeSite& site = topology.node(end.node);
      if (site.role == NodeRole::kHost && holds(site.index, end.port.value)) return true;
    }
    return false;
  });
}

/// Did nothing arrive over the other links of an optic while this one was dark? Then nothing distinguishes the two.
bool other_links_idle(const Topology& topology, std::span<const BlameSample> samples,
                      const std::vector<uint32_t>& bad, const Optic& optic, LinkId link) {
  FabricTime from = FabricTime::never(), until;
  for (const uint32_t index : bad) {
    if (samples[index].clue != Clue::kDark) continue;
    from = std::min(from, samples[index].t);
    until = std::max(until, samples[index].t);
  }
  return std::none_of(samples.begin(), samples.end(), [&](const BlameSample& sample) {
    if (sample.bad || !sample.counts || sample.t < from || sample.t > until) return false;
    for (uint8_t i = 0; i < sample.wire_count; ++i) {
      const LinkId over = topology.wire(sample.wires[i]).link;
      if (over != link && std::count(optic.links.begin(), optic.links.end(), over) > 0) return true;
    }
    return false;
  });
}

}  // namespace

bool ruled_out(const Topology& topology, const PortLight& light, const DarkWords& dark,
               const Component& component, FabricTime from, FabricTime until) {
  const std::vector<LinkId> links = links_of(topology, component);
  const auto shows_light = [&] { return light.any_lit(links, from, until); };
  const auto shows_light_first = [&] { return light.any_lit_at(links, dark.first); };
  switch (component.kind) {
    case ComponentKind::kOptic: return shows_light();  // its ports may go one after the other
    case ComponentKind::kCard:
    case ComponentKind::kPlane: return shows_light() || shows_light_first();
    // A switch that hangs keeps its light, so no port reports a loss of light.
    case ComponentKind::kSwitch: return (dark.any && shows_light()) || shows_light_first();
    // A host without power reports nothing, and its ports are witnesses for no other component.
    case ComponentKind::kHost:
      return dark.speakers.contains(topology.node(NodeId{component.index}).index) &&
             (shows_light() || shows_light_first());
    case ComponentKind::kZone: return zone_ruled_out(topology, light, dark, component, from, until);
    default: return false;
  }
}

DarkWords dark_words(std::span<const BlameSample> samples, const std::vector<uint32_t>& bad) {
  DarkWords dark;
  for (const uint32_t index : bad) {
    const BlameSample& sample = samples[index];
    if (sample.clue != Clue::kDark) continue;
    dark.any = true;
    dark.first = std::min(dark.first, sample.t);
    if (is_word(sample)) dark.speakers.insert(sample.source);
  }
  return dark;
}

bool in_plane(const Topology& topology, const Link& link, uint32_t plane) {
  const bool of_host = topology.node(link.a.node).role == NodeRole::kHost;
  return topology.port(link.a).plane == plane && (of_host || topology.has_planes());
}

std::vector<LinkId> links_of(const Topology& topology, const Component& component) {
  std::vector<LinkId> links;
  switch (component.kind) {
    case ComponentKind::kWire: return {topology.wire(WireId{component.index}).link};
    case ComponentKind::kLink: return {LinkId{component.index}};
    case ComponentKind::kOptic: return topology.optic(OpticId{component.index}).links;
    case ComponentKind::kSwitch:
    case ComponentKind::kHost:
      for (const Port& port : topology.node(NodeId{component.index}).ports) {
        links.push_back(port.link);
      }
      return links;
    case ComponentKind::kPlane:
      for (const Link& link : topology.links) {
        if (in_plane(topology, link, component.index)) links.push_back(link.id);
      }
      return links;
    case ComponentKind::kCard: {
      const PortRef first = topology.wire(WireId{component.index}).from;
      for (const PortRef port : topology.line_card_of(first)) {
        links.push_back(topology.port(port).link);
      }
      return links;
    }
    case ComponentKind::kZone: {
      std::set<LinkId> all;
      for (const NodeId node : topology.power_zones[component.index].nodes) {
        for (const Port& port : topology.node(node).ports) all.insert(port.link);
      }
      links.assign(all.begin(), all.end());
      return links;
    }
    case ComponentKind::kPath: break;
  }
  return links;
}

PortLight::PortLight(const Topology& topology, const PacketHistory& packets,
                     const EventHistory& events)
    : topology_(topology), speaks_(topology.host_count()) {
  if (!events.heard()) return;
  for (const Flow& flow : packets.flows()) {
    if (flow.roce) continue;  // a queue pair of RC reports no port
    speaks_[flow.source] = speaks_[flow.destination] = true;
  }
  // A host does not report its own port for a plane that its peer has reported: so in doubt a port
  // counts as dark.
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, size_t> open;  // host, plane, queue pair
  for (const PathNews& news : events.paths()) {
    if (news.ev) continue;
    auto& spans = dark_[{news.host, news.plane}];
    auto& own = own_[{news.host, news.plane}];
    const auto key = std::make_tuple(news.host, news.plane, news.qp.value);
    const auto before = open.find(key);
    if (!news.usable && before == open.end()) {
      open[key] = spans.size();
      spans.emplace_back(news.t, FabricTime::never());
      own.emplace_back(news.local ? news.t : FabricTime::never(), FabricTime::never());
    } else if (news.usable && before != open.end()) {
      spans[before->second].second = own[before->second].second = news.t;
      open.erase(before);
    }
  }
}

bool PortLight::lit(uint32_t host, uint32_t plane, FabricTime from, FabricTime until) const {
  const FabricTime delay = topology_.nic.port_down_delay;
  if (!speaks_[host] || (delay > FabricTime::zero() && until - from <= delay)) return false;
  const auto spans = dark_.find({host, plane});
  if (spans == dark_.end()) return true;
  return std::none_of(spans->second.begin(), spans->second.end(), [&](const auto& span) {
    return span.first <= until + topology_.base_rtt + delay && span.second >= from;
  });
}

bool PortLight::any_lit_at(const std::vector<LinkId>& links, FabricTime t) const {
  if (t == FabricTime::never()) return false;
  const FabricTime then = t + kAtOnce + topology_.nic.port_down_delay;
  using Spans = std::vector<std::pair<FabricTime, FabricTime>>;
  const auto of = [](const DarkSpans& spans, uint32_t host, uint32_t plane) -> const Spans* {
    const auto found = spans.find({host, plane});
    return found == spans.end() ? nullptr : &found->second;
  };
  const auto meets = [&](const Spans* spans) {
    return spans != nullptr && std::any_of(spans->begin(), spans->end(), [&](const auto& span) {
             return span.first <= then && span.second >= t;
           });
  };
  const auto lit_then = [&](uint32_t host, uint32_t plane) {
    const Spans* own = of(own_, host, plane);
    if (!speaks_[host] || meets(own)) return false;
    if (!meets(of(dark_, host, plane))) return true;
    return own != nullptr && std::any_of(own->begin(), own->end(), [&](const auto& span) {
             return span.first > then && span.first <= t + topology_.base_rtt;
           });
  };
  return any_port_of_hosts(topology_, links, lit_then);
}

bool PortLight::any_lit(const std::vector<LinkId>& links, FabricTime from, FabricTime until) const {
  return any_port_of_hosts(topology_, links, [&](uint32_t host, uint32_t plane) {
    return lit(host, plane, from, until);
  });
}

void narrow_class(const Topology& topology, const PortLight& light,
                  std::span<const BlameSample> samples, Suspicion& suspicion) {
  const DarkWords dark = dark_words(samples, suspicion.bad);
  std::vector<Component> all = suspicion.or_else;
  all.insert(all.begin(), suspicion.component);
  std::vector<Component> left = all;
  std::erase_if(left, [&](const Component& component) {
    return ruled_out(topology, light, dark, component, suspicion.from, suspicion.until);
  });
  if (left.empty()) return;
  suspicion.component = left.front();
  suspicion.or_else.assign(left.begin() + 1, left.end());
  if (!dark.any || suspicion.component.kind != ComponentKind::kWire) return;
  const LinkId link = links_of(topology, suspicion.component).front();
  const Component whole{ComponentKind::kLink, link.value, {}};
  auto& others = suspicion.or_else;
  if (std::find(others.begin(), others.end(), whole) == others.end()) others.push_back(whole);
  for (const PortRef end : {topology.link(link).a, topology.link(link).b}) {
    const OpticId id = topology.port(end).optic;
    if (!id.valid()) continue;
    const Component optic{ComponentKind::kOptic, id.value, {}};
    const bool there = std::find(others.begin(), others.end(), optic) != others.end();
    const bool lit = ruled_out(topology, light, dark, optic, suspicion.from, suspicion.until);
    if (!there && !lit &&
        other_links_idle(topology, samples, suspicion.bad, topology.optic(id), link)) {
      others.push_back(optic);
    }
  }
}

void join_wires(const Topology& topology, Component& component, std::vector<Component>& or_else) {
  std::vector<Component> all = or_else;
  all.insert(all.begin(), component);
  const auto has = [&](ComponentKind kind, uint32_t index) {
    return std::find(all.begin(), all.end(), Component{kind, index, {}}) != all.end();
  };
  std::vector<Component> joined;
  for (const Component& one : all) {
    Component kept = one;
    if (one.kind == ComponentKind::kWire) {
      const Link& link = topology.link(topology.wire(WireId{one.index}).link);
      const bool both = has(ComponentKind::kWire, link.a_to_b().value) &&
                        has(ComponentKind::kWire, link.b_to_a().value);
      if (both) kept = {ComponentKind::kLink, link.id.value, {}};
    }
    if (std::find(joined.begin(), joined.end(), kept) == joined.end()) joined.push_back(kept);
  }
  component = joined.front();
  or_else.assign(joined.begin() + 1, joined.end());
}

uint32_t places_of(const Topology& topology, const Component& component,
                   const std::vector<Component>& or_else) {
  std::set<Component> places;
  const auto add = [&](const Component& one) {
    places.insert(one.kind == ComponentKind::kWire
                      ? Component{ComponentKind::kLink, links_of(topology, one).front().value, {}}
                      : one);
  };
  add(component);
  for (const Component& other : or_else) add(other);
  return static_cast<uint32_t>(places.size());
}

}  // namespace mrclab::analysis
