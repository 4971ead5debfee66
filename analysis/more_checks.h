#pragma once
// What the caller adds to the judge's work: an `expect:` list that has entries of the caller's own,
// and checks whose results come from elsewhere (a program of the user's).

#include "analysis/expectation.h"
#include "analysis/verdict.h"

namespace mrclab::analysis {

/// Reads one entry of an `expect:` list. Throws InputError with the position.
Expectation parse_expectation(const YamlValue& entry);

/// Adds a check to the verdict, and what it says to the result.
void add_check(Verdict& verdict, CheckResult check);

}  // namespace mrclab::analysis
