#pragma once
// What an expectation means: four functions side by side, in the .cc of its family. Included by
// the families and by what goes through all expectations.

#include <string>

#include "analysis/checks/early_result.h"
#include "analysis/checks/judged_run.h"
#include "analysis/checks/reliance.h"
#include "analysis/checks/wording.h"

namespace mrclab::analysis {

template <class E>
struct Rules {
  /// What is measured, for which hosts and when, and at its end the bound.
  std::string (*sentence)(const E& e, const Wording& in);
  /// The evidence that the check needs, to pass as well as to fail.
  Reliances (*evidence)(const E& e, const CheckedSpan& span);
  /// The result that still holds if the user ended the run early.
  CheckResult (*early_end)(const E& e, const EarlyResult& result);
  /// Judges a run as far as it went.
  CheckResult (*judge)(const E& e, const JudgedRun& run);
};

// Usual evidence and usual early ends.

/// Everything from these witnesses, for the whole run.
template <class E, Witness... kOf>
Reliances needs(const E&, const CheckedSpan&) {
  return {Reliance{kOf}...};
}
/// Packets, to the end of the expectation's interval.
template <class E>
Reliances packets_in_interval(const E& e, const CheckedSpan& span) {
  return {span.packets_until(e.until)};
}

template <class E>
CheckResult so_far(const E&, const EarlyResult& result) {
  return result.so_far();
}
template <class E>
CheckResult in_its_interval(const E& e, const EarlyResult& result) {
  return result.in_interval_until(e.until);
}
template <class E>
CheckResult within_its_bound(const E& e, const EarlyResult& result) {
  return result.within(e.within);
}
template <class E>
CheckResult when_alive_again(const E&, const EarlyResult& result) {
  return result.alive();
}

}  // namespace mrclab::analysis
