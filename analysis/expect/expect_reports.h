#pragma once
// Expectations of what hosts report at the end: queue pairs in error, bytes in memory.

#include "analysis/expect/expectation_parts.h"

namespace mrclab::analysis {

/// No QP has gone to the error state.
struct ExpectNoQpError {
  static constexpr ExpectationWord kWord{"no_qp_error", Measure::kCount};
  bool operator==(const ExpectNoQpError&) const = default;
};
const Rules<ExpectNoQpError>& rules_of(const ExpectNoQpError&);

/// Every byte that a completed write covers is where it belongs, and nothing else was touched.
struct ExpectMemoryIntact {
  static constexpr ExpectationWord kWord{"memory_intact", Measure::kCount};
  bool operator==(const ExpectMemoryIntact&) const = default;
};
const Rules<ExpectMemoryIntact>& rules_of(const ExpectMemoryIntact&);

/// At least one QP has gone to the error state, and every one that did for this reason.
struct ExpectQpError {
  static constexpr ExpectationWord kWord{"qp_error", Measure::kCount,
                                         "\"qp_error: {reason: Retry Counter Exceeded}\""};
  std::string reason;
  bool operator==(const ExpectQpError&) const = default;

  static void fields(auto& e, auto&& visit) { visit("reason", e.reason, Need::kRequired); }
};
const Rules<ExpectQpError>& rules_of(const ExpectQpError&);

}  // namespace mrclab::analysis
