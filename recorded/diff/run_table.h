#pragma once
// Several runs as one table: each with its result and, beside what was published about it, what it
// measured.

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "analysis/verdict/verdict.h"

namespace mrclab::lab {

struct RunRow {
  std::vector<std::string> ids;  ///< "L5", "P-2"
  const analysis::Verdict* verdict = nullptr;
};

/// Lines of at most 80 columns. `wall` is what all of them took.
std::string run_table(std::span<const RunRow> rows, std::chrono::duration<double> wall);

}  // namespace mrclab::lab
