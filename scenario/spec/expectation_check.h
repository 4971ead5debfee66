#pragma once
// Expectations that no run of a scenario could answer, or that every run would meet, are refused when they are
// read: a check that passes must have been able to fail.

#include <string>
#include <vector>

#include "analysis/expect/expectation.h"
#include "scenario/spec/planned_traffic.h"
#include "scenario/spec/scenario_value.h"

namespace mrclab::lab {

class ExpectationCheck {
 public:
  explicit ExpectationCheck(const Scenario& scenario);
  /// Throws InputError with the position. `entry` is what the expectation was read from.
  void require_possible(const analysis::Expectation& expectation, const YamlValue& entry) const;
  /// What was found where the scenario cannot answer it; empty if it can.
  std::string why_impossible(const analysis::Expectation& expectation) const;

 private:
  class OfOne;

  const Scenario& scenario_;
  std::vector<PlannedFlow> flows_;  ///< empty where programs send what they like
};

/// Takes those expectations out that the scenario cannot answer, for one whose transport was exchanged.
void leave_out_impossible(Scenario& scenario);

}  // namespace mrclab::lab
