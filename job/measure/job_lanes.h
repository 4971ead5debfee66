#pragma once
// The operations of a run as bars on lanes: a rank's computing lanes, and below them its exchange by group; what overlaps
// there has lanes of its own. For pages, and for viewers of Chrome traces (ui.perfetto.dev opens them, too).

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "job/measure/op_spans.h"

namespace mrclab::job {

struct LaneBar {
  uint32_t rank = 0;
  uint32_t lane = 0;  ///< in JobLanes::lanes of the rank
  uint32_t op = 0;    ///< of the job
  FabricTime begin, end;
  FabricTime active;  ///< see OpSpan; end where the other ranks came only then
};

struct JobLanes {
  std::vector<std::vector<std::string>> lanes;  ///< by rank, their names: "compute", "dp", "dp 2"
  std::vector<LaneBar> bars;                    ///< in order of rank, begin and operation
  uint64_t left_out = 0;                        ///< bars beyond the limit
};

inline constexpr size_t kMaxLaneBars = 2'000'000;
/// What of a group in one rank overlaps more often than this shares the last of these lanes.
inline constexpr size_t kMaxLanesOfGroup = 16;

/// An operation that did not end goes to spans.horizon; one without time is left out.
JobLanes lanes_of(const PlannedJob& plan, const OpSpans& spans, size_t most = kMaxLaneBars);

/// "backward", "grads (all_reduce dp)": what a bar is called.
std::string bar_text(const PlannedJob& plan, uint32_t op);

/// Chrome's trace format (JSON object format, complete events "X"): a process a rank, a thread a lane, times in
/// microseconds.
void write_chrome_trace(const PlannedJob& plan, const JobLanes& lanes, std::ostream& out);

}  // namespace mrclab::job
