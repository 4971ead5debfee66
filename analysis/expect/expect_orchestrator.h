#pragma once
// Expectations of what an orchestrator finds (analysis/orchestrator).

#include "analysis/expect/expectation_parts.h"

namespace mrclab::analysis {

/// The orchestrator names this port, or switch, within that time from the start (a pattern), and nothing else. Part
/// "none": all is as planned.
struct ExpectOrchestratorNames {
  static constexpr ExpectationWord kWord{
      "orchestrator_names", Measure::kTime,
      "\"orchestrator_names: {part: \"p0.t0-0:u1\", within: 8rtt}\""};
  std::string part;
  FabricTime within = FabricTime::never();
  bool operator==(const ExpectOrchestratorNames&) const = default;

  static void fields(auto& e, auto&& visit) {
    visit("part", e.part, Need::kRequired);
    visit("within", e.within, Need::kOptionalPositive);
  }
};
const Rules<ExpectOrchestratorNames>& rules_of(const ExpectOrchestratorNames&);

}  // namespace mrclab::analysis
