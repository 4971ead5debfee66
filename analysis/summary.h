#pragma once
// What stands at the very end of a run's output, where it does not scroll away: the result, each
// check that did not pass, how long it took, where the report is.

#include <string>

#include "analysis/verdict.h"

namespace mrclab::analysis {

/// What the verdict does not know of its run.
struct RunFacts {
  double seconds = 0;  ///< of wall time, from beginning to end
  std::string report;  ///< the page's path; it is told whole, however long
};

/// "goodput of plane 0 from 600us ≥ 95 % of baseline: 99.97 %"
std::string sentence_of(const CheckResult& check);

/// At most 24 lines, at 80 columns, as long as sentences fit a line.
std::string to_summary(const Verdict& verdict, const RunFacts& facts, TableOptions options = {});

}  // namespace mrclab::analysis
