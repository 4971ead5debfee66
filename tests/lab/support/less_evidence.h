#pragma once
// What becomes of a verdict when evidence is taken away: never better, never an accusation.

#include <map>
#include <string>
#include <utility>

#include "analysis/verdict/verdict.h"

namespace mrclab::test {

/// What became of verdicts on less evidence, or of those who were to read it.
struct Tally {
  uint64_t cuts = 0;
  uint64_t better = 0;   ///< something passed that did not with all evidence
  uint64_t accused = 0;  ///< something failed that did not
  uint64_t refused = 0;  ///< an error that names the file
  uint64_t weaker = 0, same = 0;
};
using Tallies = std::map<std::pair<std::string, std::string>, Tally>;  // by source and cut

/// Holds a verdict on less evidence against the one on all of it, and counts.
void hold_against(const analysis::Verdict& whole, const analysis::Verdict& less, Tally& tally);

/// Prints a row for each source and cut, and one for all.
void show(const Tallies& tallies);

}  // namespace mrclab::test
