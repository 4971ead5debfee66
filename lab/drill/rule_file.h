#pragma once
// Alert rules of Prometheus, as far as a drill reads them by itself: promtool checks and evaluates them.

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "fabric/base/units.h"

namespace mrclab::lab {

inline constexpr size_t kMaxRuleBytes = size_t{4} << 20;

struct RuleFile {
  std::filesystem::path path;       ///< absolute
  std::vector<std::string> alerts;  ///< names, in the order of the file, each once
  std::set<std::string> words;      ///< of the file, that could be names of metrics
  /// The longest range of an expression and the longest `for`, in seconds of the site: so long after a fault an alert may
  /// still be about it.
  double memory_seconds = 0;
};

/// Throws InputError for a file that is not there, too long, or has no alert.
RuleFile read_rule_file(const std::filesystem::path& path);

}  // namespace mrclab::lab
