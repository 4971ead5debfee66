#pragma once
// Chaos in words, for 80 columns.

#include <cstdio>
#include <optional>
#include <string>

#include "lab/chaos/chaos_result.h"

namespace mrclab::lab {

std::string chaos_title(const ChaosReport& report, size_t seeds, uint32_t jobs);
/// A seed that did not pass: what failed, and the command that repeats it. Its note on a second
/// line.
std::string chaos_line(const ChaosReport& report, const SeedResult& result, std::FILE* stream);
std::string chaos_summary(const ChaosReport& report, std::optional<double> seconds);
std::string merge_text(const MergedReport& merged);
/// 1 if a seed failed, else 3 if one was inconclusive, else 0.
int chaos_exit_code(const ChaosReport& report);

}  // namespace mrclab::lab
