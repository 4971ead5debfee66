#include "analysis/blame/blame_draft.h"

#include <map>

namespace mrclab::analysis {
namespace {

std::vector<Component> parents(const Topology& topology) {
  std::vector<Component> all;
  for (const Optic& optic : topology.optics) {
    all.push_back({ComponentKind::kOptic, optic.id.value, {}});
  }
  for (const NodeSite& site : topology.nodes) {
    const bool host = site.role == NodeRole::kHost;
    all.push_back({host ? ComponentKind::kHost : ComponentKind::kSwitch, site.id.value, {}});
  }
  for (const NodeSite& site : topology.nodes) {
    if (site.role == NodeRole::kHost || topology.line_card_ports < 2) continue;
    for (size_t i = 0; i < site.ports.size(); i += topology.line_card_ports) {
      all.push_back({ComponentKind::kCard, site.ports[i].out.value, {}});
    }
  }
  for (uint32_t p = 0; p < topology.planes; ++p) all.push_back({ComponentKind::kPlane, p, {}});
  for (uint32_t zone = 0; zone < topology.power_zones.size(); ++zone) {
    if (topology.power_zones[zone].nodes.size() < 2) continue;
    all.push_back({ComponentKind::kZone, zone, {}});
  }
  return all;
}

}  // namespace

Symptom symptom_of(std::span<const BlameSample> samples, const std::vector<uint32_t>& bad) {
  size_t dark = 0, flipped = 0, astray = 0;
  for (const uint32_t index : bad) {
    const Clue clue = samples[index].clue;
    dark += clue == Clue::kDark ? 1 : 0;
    flipped += clue == Clue::kBitFlip || clue == Clue::kInside ? 1 : 0;
    astray += clue == Clue::kAstray ? 1 : 0;
  }
  if (flipped * 2 > bad.size()) return Symptom::kFlipsBits;
  if (astray * 2 > bad.size()) return Symptom::kMisroutes;
  return dark > 0 ? Symptom::kNoLight : Symptom::kLoses;
}

std::vector<Component> parents_of(const Topology& topology, const std::vector<Draft>& drafts) {
  std::map<Component, uint32_t> touched;
  const auto touch_link = [&](const Link& link) {
    for (const PortRef end : {link.a, link.b}) {
      const NodeSite& site = topology.node(end.node);
      const bool host = site.role == NodeRole::kHost;
      ++touched[{host ? ComponentKind::kHost : ComponentKind::kSwitch, site.id.value, {}}];
      const OpticId optic = topology.port(end).optic;
      if (optic.valid()) ++touched[{ComponentKind::kOptic, optic.value, {}}];
    }
  };
  const auto touch = [&](const Component& component) {
    if (component.kind == ComponentKind::kWire) {
      touch_link(topology.link(topology.wire(WireId{component.index}).link));
    } else if (component.kind == ComponentKind::kLink) {
      touch_link(topology.link(LinkId{component.index}));
    } else {
      ++touched[component];
    }
  };
  for (const Draft& draft : drafts) {
    touch(draft.component);
    for (const Component& other : draft.or_else) touch(other);
  }
  std::vector<Component> all = parents(topology);
  std::erase_if(all, [&](const Component& parent) {
    const bool one_of_many = parent.kind == ComponentKind::kOptic ||
                             parent.kind == ComponentKind::kSwitch ||
                             parent.kind == ComponentKind::kHost;
    const auto found = touched.find(parent);
    return one_of_many && (found == touched.end() || found->second < 2);
  });
  return all;
}

}  // namespace mrclab::analysis
