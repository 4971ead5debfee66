#pragma once
// One event of a run's story: what run_story and pause_report write, and reports and pages show.

#include <cstdint>
#include <string>
#include <vector>

#include "fabric/base/units.h"

namespace mrclab::analysis {

struct StoryLine {
  FabricTime t;
  /// struck, noticed, moved, stayed, unused, lost, dropped, refused, settled, undone, returned, recovered, failed,
  /// trimmed, paused, waited, unknown
  std::string kind;
  std::string text;                ///< a sentence or two, plain text
  std::vector<uint32_t> attempts;  ///< a few transmissions that it is about
};

}  // namespace mrclab::analysis
