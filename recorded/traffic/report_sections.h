#pragma once
// Sections of `analyze` that the report of a run shows as well.

#include <string>

#include "scenario/spec/scenario.h"

namespace mrclab::lab {

/// What the captures of the run show of RoCEv2: queue pairs, losses, rounds of go-back-N, rates with CNPs, pauses as a
/// tree, as JSON for report.html: [{"name", "title", "columns": [{"heading", "number"}], "rows": [[text]], "left_out",
/// "notes"}], and of "rates" also "bins": [[flow, from_us, for_us, bits per second, marked, CNPs]]. Empty where its
/// transport is none, or there are no captures.
std::string roce_sections(const Scenario& scenario, const std::filesystem::path& run);

}  // namespace mrclab::lab
