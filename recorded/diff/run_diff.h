#pragma once
// `mrclab diff`: do two runs have the same history, and if not, what is the first difference?

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "recorded/diff/recorded_run.h"

namespace mrclab::lab {

/// A packet at a port, before the first difference.
struct ContextRecord {
  bool egress = false;
  CompactRecord record;
};

struct RunDiff {
  RecordedRun a, b;
  bool same = false;
  /// Up to here the kept records are complete; never() for all of them.
  FabricTime complete_a, complete_b;
  FabricTime complete() const { return std::min(complete_a, complete_b); }
  /// Ordered by the time of their first difference.
  std::vector<StreamDifference> streams;
  /// The first difference is known, and nothing that was not kept can come before it.
  bool located = false;
  /// Where the packet that one run alone has at that place appears in the other run, later.
  std::optional<CompactRecord> elsewhere;
  std::vector<ContextRecord> before;  ///< on the port of the first difference, the same in both
  std::vector<std::string> hints;     ///< what else differs, and what was in force
};

/// Reads both folders. Throws InputError.
RunDiff diff_runs(const std::filesystem::path& a, const std::filesystem::path& b, size_t context);

/// The difference as text for a terminal of 80 columns.
std::string to_text(const RunDiff& diff);
nlohmann::ordered_json to_json(const RunDiff& diff);

/// What two scenarios, their worlds and their verdicts have different, a sentence each.
std::vector<std::string> differing_settings(const RecordedRun& a, const RecordedRun& b);
/// The faults in force at `t`, and the last effect up to then, a sentence each.
std::vector<std::string> in_force(const RecordedRun& a, const RecordedRun& b, FabricTime t);

}  // namespace mrclab::lab
