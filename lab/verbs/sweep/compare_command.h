#pragma once
// `mrclab compare`, and `mrclab demo --compare`.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lab/compare/comparison.h"

namespace mrclab::lab {

struct CompareOptions {
  std::vector<std::string> scenarios;
  ComparisonOptions comparison;
  std::optional<uint64_t> seed;
  bool json = false, csv = false, markdown = false, programs = false;
};

/// Compares and prints. Returns the code of the first transport's verdicts, or 1 if another one does not behave as
/// its scenario states (`contrast:`). Throws as compare_transports().
int compare_command(CompareOptions options);

}  // namespace mrclab::lab
