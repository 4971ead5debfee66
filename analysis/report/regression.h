#pragma once
// A verdict beside a stored one: which metrics became worse by more than they may.
//
// Both are read from the JSON of a verdict, so that a metric means the same on both sides.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/checks/check_result.h"
#include "analysis/report/compared_metrics.h"
#include "analysis/verdict/verdict.h"

namespace mrclab::analysis {

/// A stored verdict, as far as it is compared.
struct StoredVerdict {
  std::string file;  ///< for messages
  std::string scenario, world, version, result;
  uint64_t seed = 0;
  bool by_wall_clock = false;
  bool faithful = true;  ///< also where a verdict does not state it
  std::string history_sha256;
  uint64_t history_version = 1;                       ///< 1 where a verdict does not state it
  std::map<std::string, double, std::less<>> values;  ///< by the label of a row
  size_t faults = 0, jobs = 0;
};

/// Longest verdict that is read. Our choice: those of the largest shipped scenario take 2 MiB.
inline constexpr size_t kBaselineMax = size_t{64} << 20;

/// Reads a verdict.json. Throws InputError, with the place of what is wrong, for anything else.
StoredVerdict read_stored_verdict(std::string_view json, const std::string& file);

/// What a verdict is held against.
struct BaselineCheck {
  StoredVerdict baseline;
  Tolerances tolerances = default_tolerances();
};

struct ComparedMetric {
  std::string label;   ///< "goodput", "recover 2" (the second fault)
  std::string metric;  ///< whose tolerance counts
  std::optional<double> before, now;
  Tolerance tolerance;
  bool better = false;  ///< by more than the tolerance
  Result result = Result::kPass;
  std::string note;  ///< why it failed or could not be compared
};

struct BaselineComparison {
  std::vector<ComparedMetric> metrics;  ///< without those that are zero or absent on both sides
  std::vector<std::string> notes;       ///< what else differs: seed, world, version
  std::string
      unusable;  ///< why nothing follows from the baseline; then each metric is inconclusive
};

/// Throws InputError if the baseline is of another scenario.
void require_scenario(const StoredVerdict& baseline, const std::string& scenario);

BaselineComparison compare_with(const BaselineCheck& against, const Verdict& verdict);

/// A check for each metric, to be added to the verdict, so that JUnit and the report have them.
std::vector<CheckResult> checks_of(const BaselineComparison& comparison);

/// Metric, baseline, now, change, tolerance; lines of at most `width` columns.
std::string to_table(const BaselineComparison& comparison, const StoredVerdict& baseline,
                     TableOptions options = {});

}  // namespace mrclab::analysis
