#pragma once
// Chaos for so much time: seeds that were never run before, of one or several bases, more of those with kinds of
// faults that have found something or were seldom run (coverage.h). Its folder has
//
//   coverage.json     what was covered, how much time it took, and where each base's seeds go on
//   failing.jsonl     a line for each seed that failed, with the command that repeats it; kFailingMost at most
//
// and the same command with the same folder goes on where it was stopped.

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "lab/chaos/chaos_scenario.h"

namespace mrclab::lab {

struct BudgetOptions {
  std::vector<std::string> bases;
  std::chrono::seconds budget{};
  std::filesystem::path folder;
  uint32_t jobs = 0;      ///< processes; 0: as many as cores
  bool programs = false;  ///< run programs of another user's scenario without asking
};
inline constexpr size_t kBasesMost = 16, kFailingMost = 10'000;
/// Of so many consecutive seeds the campaign runs one, drawn by Coverage::worth(), and never the
/// others (our choice).
inline constexpr uint64_t kCandidates = 8;

/// "90s", "30m", "8h"; a second to 30 days. Throws InputError.
std::chrono::seconds parse_budget(const std::string& text);

/// 0 none failed, 1 one failed in this run of the command. Ctrl-C ends it in order. Throws InputError.
int budget_command(const BudgetOptions& options);

}  // namespace mrclab::lab
