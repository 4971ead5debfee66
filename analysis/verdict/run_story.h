#pragma once
// A run in plain sentences, one per event, in order of time: a fault struck, which host noticed it
// after how long, when traffic had moved, what was lost, what came back into use, when goodput had
// recovered. Its only sources are captures and the hosts' events.

#include <span>
#include <string>
#include <vector>

#include "analysis/history/evidence.h"
#include "analysis/history/fault_span.h"
#include "analysis/history/reports.h"
#include "analysis/incident/wait_history.h"
#include "analysis/measure/measurements.h"
#include "analysis/verdict/story_line.h"
#include "analysis/verdict/verdict.h"

namespace mrclab::analysis {

struct StoryInputs {
  const Topology& topology;
  const Evidence& evidence;
  const Measurements& measurements;
  std::span<const FaultSpan> faults;
  std::span<const FaultResult> results;  ///< results of the same faults
  std::span<const QueuePairName> queue_pairs;
  std::span<const WaitSpan> waits = {};  ///< of the same run
};

inline constexpr size_t kMaxFaultsTold = 40;

std::vector<StoryLine> write_story(const StoryInputs& in);

}  // namespace mrclab::analysis
