#pragma once
// What stands at the very end of a run's output, where it does not scroll away: the result, each
// check that did not pass, how long it took, where the report is.

#include <string>

#include "analysis/verdict/verdict.h"

namespace mrclab::analysis {

/// Facts about a run beside its verdict.
struct RunFacts {
  double seconds = 0;  ///< wall time, from beginning to end
  std::string report;  ///< the path of its page, which is never cut
};

/// "goodput of plane 0 from 600us ≥ 95 % of baseline: 99.97 %"
std::string sentence_of(const CheckResult& check);

/// At most 24 lines at 80 columns, if no sentence takes more than a line.
std::string to_summary(const Verdict& verdict, const RunFacts& facts, TableOptions options = {});

}  // namespace mrclab::analysis
