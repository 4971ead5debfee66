#include "analysis/blame/blame_draft.h"

namespace mrclab::analysis {

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

}  // namespace mrclab::analysis
