#include "fabric/topology/cabling.h"

#include <algorithm>
#include <iterator>

namespace mrclab {
namespace {

/// "p0.t0-1:o0" as it is called in another plane: that one's number takes the place of the 0.
std::string name_in_plane(std::string kept, uint32_t plane) {
  return kept.replace(1, 1, std::to_string(plane));
}

}  // namespace

Cabling::OpticKind Cabling::kind_of(uint32_t kept_optic) const {
  const auto next = std::upper_bound(optic_kinds.begin(), optic_kinds.end(), kept_optic);
  const uint32_t first = *std::prev(next);
  const auto kept = static_cast<uint32_t>(kept_optics.size());
  return {first, (next == optic_kinds.end() ? kept : *next) - first};
}

OpticId Cabling::moved_optic(OpticId kept, uint32_t copy) const {
  const OpticKind kind = kind_of(kept.value);
  return {copies * kind.first + copy * kind.count + kept.value - kind.first};
}

Optic Cabling::optic(OpticId id) const {
  if (copies == 1) return {id, kept_optics[id.value].name, kept_optics[id.value].links};
  const OpticKind kind = kind_of(id.value / copies);
  const uint32_t place = id.value - copies * kind.first, copy = place / kind.count;
  const KeptOptic& kept = kept_optics[kind.first + place % kind.count];
  Optic optic{id, name_in_plane(kept.name, copy), kept.links};
  for (LinkId& link : optic.links) link.value += copy * static_cast<uint32_t>(kept_links.size());
  return optic;
}

Cabling Cabling::unfolded() const {
  Cabling all;
  all.hosts = hosts;
  const uint32_t nodes = hosts + copies * switches_each();
  for (NodeId node{0}; node.value < nodes; ++node.value) {
    const auto [kept, copy] = kept_node(node);
    Place place = places[kept.value];
    place.first = static_cast<uint32_t>(all.plugs.size());
    if (node.value >= hosts) place.plane = static_cast<uint16_t>(place.plane + copy);
    all.places.push_back(place);
    for (const Port& port : Ports(*this, node)) {
      const Link at = link(port.link);
      const PortId number{static_cast<uint32_t>(all.plugs.size()) - place.first};
      all.plugs.push_back({.link = port.link,
                           .optic = port.optic,
                           .nic_usid = port.nic_usid,
                           .kernel_usid = port.kernel_usid,
                           .number = port.number,
                           .plane = static_cast<uint16_t>(port.plane),
                           .kind = port.kind,
                           .lower = at.a == PortRef{node, number}});
    }
  }
  all.places.push_back({.first = static_cast<uint32_t>(all.plugs.size())});
  for (const Link& link : Links(*this)) all.kept_links.push_back(link);
  for (const Optic& optic : Optics(*this)) all.kept_optics.push_back({optic.name, optic.links});
  return all;
}

}  // namespace mrclab
