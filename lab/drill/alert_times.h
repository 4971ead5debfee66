#pragma once
// When alerts fired, out of what `promtool test rules` prints of them: a query of ALERTS at each step, of which nothing is
// expected, so that it prints what it got.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lab/drill/drill_series.h"
#include "lab/drill/rule_file.h"

namespace mrclab::lab {

using AlertLabels = std::map<std::string, std::string>;  ///< with alertname

/// An alert about one thing, from the step at which it fires to that at which it does not any more.
struct AlertSpan {
  AlertLabels labels;
  size_t from = 0, until = 0;  ///< steps; `until` is behind the last
  bool open = false;           ///< it fires at the last step
};

/// More are refused: each is a query.
inline constexpr size_t kMaxDrillSteps = 2000;

/// The unit test that promtool is given. `interval_ms`: of the site, between two samples.
std::string drill_test(const RuleFile& rules, const DrillData& data, int64_t interval_ms);

/// Its answer read. Throws InputError for one that has another form.
std::vector<AlertSpan> alert_spans(std::string_view answer, size_t steps, int64_t interval_ms);

}  // namespace mrclab::lab
