#pragma once
// What becomes a blame: suspicions of one component, joined. Only analysis/blame/blame*.cc include this.

#include <span>
#include <vector>

#include "analysis/blame/blame_component.h"
#include "analysis/blame/blame_result.h"

namespace mrclab::analysis {

/// Suspicions of one component, joined.
struct Draft {
  Symptom symptom = Symptom::kLoses;
  Component component;
  std::vector<Component> or_else;
  std::vector<Component> both;  // or these two at once
  FabricTime from, until, named;
  uint32_t times = 1;
  uint64_t of = 0;
  std::vector<uint32_t> bad;
};

/// What the bad samples show by their clues.
Symptom symptom_of(std::span<const BlameSample> samples, const std::vector<uint32_t>& bad);
/// What several of the drafts may be parts of: optics, hosts, switches, line cards, planes, power zones, in the order in
/// which they are named. Of a large fabric's optics, hosts and switches only those that two drafts touch.
std::vector<Component> parents_of(const Topology& topology, const std::vector<Draft>& drafts);

}  // namespace mrclab::analysis
