#pragma once
// A comparison as people and programs read it.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lab/compare/comparison.h"

namespace mrclab::lab {

/// Per scenario a table with a row for each transport, and a sentence for each that differs from the first.
std::string comparison_text(const std::vector<Comparison>& comparisons,
                            analysis::TableOptions options);

/// What happened under a transport, held against the first one's run.
std::string difference_sentence(const ComparedRun& first, const ComparedRun& run);

/// [{"scenario","seed","base_rtt_ps","page","runs":[{"transport","result","goodput_bps","recovery_ps",
/// "lowest_bps","retransmitted","lost","trimmed","failed_checks","history_sha256","folder"}]}]; null where a
/// value is not known.
nlohmann::ordered_json to_json(const std::vector<Comparison>& comparisons);

/// The same, a line for each run under a line of names.
std::string to_csv(const std::vector<Comparison>& comparisons);

}  // namespace mrclab::lab
