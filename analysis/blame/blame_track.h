#pragma once
// The samples of one component in the order in which they came there, and which of them can be one event. Only
// analysis/blame/blame_search.cc includes this.

#include <vector>

#include "analysis/blame/blame_component.h"

namespace mrclab::analysis {

/// A sample at a component.
struct Passage {
  FabricTime t;  ///< when it came there, if it waited nowhere
  uint32_t index = 0;
  uint8_t wires = 0;
  auto operator<=>(const Passage&) const = default;
};

/// The samples of one component, in the order in which they came there.
struct Track {
  std::vector<Passage> samples;
  double gain = 0;
  size_t begin = 0, end = 0;  // the best interval
  size_t named = 0;           // where the gain came to the least that is asked
  bool fresh = false;
};

/// What an interval has shown so far of something with parts.
struct Shown {
  FabricTime word = FabricTime::never();  ///< the first port that a host reported dark
  bool astray = false;                    ///< a packet was sent astray, or nowhere
};
/// What fails whole turns all its ports dark at once: a port reported dark later failed for another reason. A switch
/// loses its table with its power, so what turns dark when packets go astray already has another reason, too.
inline bool same_event(const Component& component, const BlameSample& sample, Shown& shown) {
  if (!sample.bad || !has_parts(component.kind)) return true;
  if (sample.clue == Clue::kAstray) shown.astray = true;
  if (sample.clue == Clue::kDark && shown.astray) return false;
  if (!is_word(sample)) return true;
  if (shown.word == FabricTime::never()) shown.word = sample.t;
  return sample.t <= shown.word + kAtOnce;
}

}  // namespace mrclab::analysis
