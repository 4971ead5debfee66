#pragma once
// Several runs as one table: each with its result and, beside what was published about it, what it
// measured.

#include <span>
#include <string>
#include <vector>

#include "analysis/verdict.h"

namespace mrclab::lab {

struct RunRow {
  std::vector<std::string> ids;  ///< "L5", "P-2"
  const analysis::Verdict* verdict = nullptr;
  double seconds = 0;  ///< of wall clock, all in all
};

/// Lines of at most 80 columns.
std::string run_table(std::span<const RunRow> rows);

}  // namespace mrclab::lab
