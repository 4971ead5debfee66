#pragma once
// The page of a comparison: all curves in one chart, one file that opens without a network.

#include <filesystem>

#include "lab/compare/comparison.h"

namespace mrclab::lab {

/// Reads the runs' folders once more, writes compare.html into the folder of the first, and returns where it
/// is. Throws InputError, SystemError.
std::filesystem::path write_comparison_page(const Comparison& comparison);

}  // namespace mrclab::lab
