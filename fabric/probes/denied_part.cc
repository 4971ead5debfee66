#include "fabric/probes/denied_part.h"

#include "fabric/topology/pattern.h"

namespace mrclab {
namespace {

DeniedPart part_of_link(const Topology& topology, const Link& link) {
  const NodeSite &low = topology.node(link.a.node), &high = topology.node(link.b.node);
  if (low.role == NodeRole::kHost) {
    return {PartKind::kPort, static_cast<uint8_t>(link.a.port.value), 0, low.index};
  }
  return {PartKind::kLink, static_cast<uint8_t>(low.plane), static_cast<uint16_t>(high.index),
          low.index};
}

DeniedPart part_of_switch(const NodeSite& site) {
  const auto plane = static_cast<uint8_t>(site.plane);
  if (site.role == NodeRole::kT1) {
    return {PartKind::kT1, plane, static_cast<uint16_t>(site.index), 0};
  }
  return {PartKind::kT0, plane, 0, site.index};
}

}  // namespace

bool has_part(const Topology& topology, const DeniedPart& part) {
  if (part.plane >= topology.planes) return false;
  switch (part.kind) {
    case PartKind::kLink:
      return part.index < topology.t0_per_plane && part.uplink < topology.t1_per_plane;
    case PartKind::kPort: return part.index < topology.host_count();
    case PartKind::kT1: return part.uplink < topology.t1_per_plane;
    case PartKind::kT0: return part.index < topology.t0_per_plane;
    case PartKind::kPlane: return true;
  }
  return false;
}

std::string name_of(const Topology& topology, const DeniedPart& part) {
  const auto link = [&](PortRef port) {
    return "link " + topology.link_name(topology.wire(topology.port(port).out).link);
  };
  switch (part.kind) {
    case PartKind::kLink:
      return link(
          {topology.t0(part.plane, part.index), PortId{topology.hosts_per_t0 + part.uplink}});
    case PartKind::kPort: return link({topology.host(part.index), PortId{part.plane}});
    case PartKind::kT1: return "switch " + topology.node(topology.t1(part.plane, part.uplink)).name;
    case PartKind::kT0: return "switch " + topology.node(topology.t0(part.plane, part.index)).name;
    case PartKind::kPlane: break;
  }
  return "plane p" + std::to_string(part.plane);
}

std::vector<DeniedPart> parts_named(const Topology& topology, std::string_view text) {
  text = without_blanks(text);
  for (const std::string_view kind : {"link ", "port ", "switch ", "plane "}) {
    if (text.starts_with(kind)) text = without_blanks(text.substr(kind.size()));
  }
  NameResolver names(topology, 0);
  std::vector<DeniedPart> parts;
  if (text.find(':') != std::string_view::npos) {
    for (const LinkId id : names.links(text)) {
      parts.push_back(part_of_link(topology, topology.link(id)));
    }
  } else if (text.find('.') != std::string_view::npos) {
    for (const NodeId id : names.switches(text)) {
      parts.push_back(part_of_switch(topology.node(id)));
    }
  } else {
    for (const uint32_t plane : names.planes(text)) {
      parts.push_back({PartKind::kPlane, static_cast<uint8_t>(plane), 0, 0});
    }
  }
  return parts;
}

bool crosses(const Topology& topology, const DeniedPart& part, uint32_t source,
             uint32_t destination, Path path) {
  if (path.plane != part.plane) return false;
  const auto at_row = [&] {
    return topology.host_row(source) == part.index || topology.host_row(destination) == part.index;
  };
  const bool goes_up = path.uplink != kT0LocalUplink;
  // Where a hash chooses, an entropy value names its plane only.
  const bool by_uplink = goes_up && path.named() && path.uplink == part.uplink;
  switch (part.kind) {
    case PartKind::kLink: return by_uplink && at_row();
    case PartKind::kPort: return source == part.index || destination == part.index;
    case PartKind::kT1: return by_uplink;
    case PartKind::kT0: return at_row();
    case PartKind::kPlane: return true;
  }
  return false;
}

LinkNumbers::LinkNumbers(const Topology& topology)
    : planes_(topology.planes),
      t0s_(topology.t0_per_plane),
      t1s_(topology.t1_per_plane),
      hosts_(topology.host_count()),
      between_(t0s_ * t1s_) {}

DeniedPart LinkNumbers::part(uint32_t number) const {
  if (number < between_ * planes_) {
    const uint32_t in_plane = number % between_;
    return {PartKind::kLink, static_cast<uint8_t>(number / between_),
            static_cast<uint16_t>(in_plane % t1s_), in_plane / t1s_};
  }
  const uint32_t port = number - between_ * planes_;
  return {PartKind::kPort, static_cast<uint8_t>(port / hosts_), 0, port % hosts_};
}

std::vector<uint32_t> LinkNumbers::links_of(const DeniedPart& part) const {
  std::vector<uint32_t> links;
  const uint32_t per_t0 = t0s_ > 0 ? hosts_ / t0s_ : 0;
  for (uint32_t a = 0; a < t0s_; ++a) {
    for (uint32_t u = 0; u < t1s_; ++u) {
      const bool in = part.kind == PartKind::kPlane ||
                      (part.kind == PartKind::kT1 && u == part.uplink) ||
                      (part.kind == PartKind::kT0 && a == part.index) ||
                      (part.kind == PartKind::kLink && a == part.index && u == part.uplink);
      if (in) links.push_back(link(part.plane, a, u));
    }
  }
  for (uint32_t h = 0; h < hosts_; ++h) {
    const bool in = part.kind == PartKind::kPlane ||
                    (part.kind == PartKind::kPort && h == part.index) ||
                    (part.kind == PartKind::kT0 && h / per_t0 == part.index);
    if (in) links.push_back(port(part.plane, h));
  }
  return links;
}

}  // namespace mrclab
