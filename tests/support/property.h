#pragma once
// Property tests that fail the same way every time: rapidcheck with a fixed seed, silent when it
// holds. RC_PARAMS (rapidcheck's own variable, for instance RC_PARAMS="seed=7 max_success=100000")
// searches elsewhere.

#include <rapidcheck.h>
#include <rapidcheck/detail/TestListenerAdapter.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <unordered_map>

namespace mrclab::test {

/// Empty if the property holds (in RC_ASSERT put || and && into parentheses: it overloads them),
/// else what rapidcheck found. `max_size` bounds generated sizes.
template <class Testable>
std::string counterexample(Testable&& testable, int runs = 500, int max_size = 100) {
  rc::detail::TestParams params;
  params.seed = 1;
  params.maxSuccess = runs;
  params.maxSize = max_size;
  if (std::getenv("RC_PARAMS") != nullptr) params = rc::detail::configuration().testParams;
  rc::detail::TestListenerAdapter silent;
  const auto result = rc::detail::checkTestable(
      std::forward<Testable>(testable), rc::detail::TestMetadata{}, params, silent,
      std::unordered_map<std::string, rc::detail::Reproduce>{});
  if (result.template is<rc::detail::SuccessResult>()) return {};
  std::ostringstream text;
  rc::detail::printResultMessage(result, text);
  return text.str();
}

}  // namespace mrclab::test
