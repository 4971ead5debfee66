#pragma once
// A comparison as people read it in a terminal.

#include <string>
#include <vector>

#include "lab/compare/comparison.h"

namespace mrclab::lab {

/// Per scenario a table with a row for each transport, completion time or goodput first, then what happened in
/// each. Columns that are zero everywhere are left out, and the last ones where they find no room: "queue" is the
/// deepest one of data, "cut" the flows that CNPs slowed down, "shared" the uplinks with several flows of one path.
std::string comparison_text(const std::vector<Comparison>& comparisons,
                            analysis::TableOptions options);

}  // namespace mrclab::lab
