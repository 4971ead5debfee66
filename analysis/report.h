#pragma once
// report.html: one self-contained file with the goodput of every plane over fabric time, the
// faults, the checks and the timing. No script, no external resource.

#include <span>
#include <string>

#include "analysis/fault_span.h"
#include "analysis/measurements.h"
#include "analysis/verdict.h"

namespace mrclab::analysis {

std::string to_html(const Verdict& verdict, const Measurements& measurements,
                    std::span<const FaultSpan> faults, const Topology& topology);

}  // namespace mrclab::analysis
