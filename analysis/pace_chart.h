#pragma once
// The pace of a live run over fabric time, as one SVG for report.html: dilation above, slack below.

#include <span>
#include <string>

#include "analysis/reports.h"

namespace mrclab::analysis {

/// Empty with fewer than two points. `end`: of the run, where the time axis ends.
std::string pace_chart(std::span<const PacePoint> points, FabricTime end);

}  // namespace mrclab::analysis
