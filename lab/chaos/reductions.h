#pragma once
// Ways to make a scenario smaller. Each offers what it would come to, the boldest first; what turns
// out to be no valid scenario (a fault on a plane that is gone) is not offered.

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "scenario/spec/scenario.h"

namespace mrclab::lab {

struct Reduction {
  std::string_view name;
  std::vector<Scenario> (*offers)(const Scenario& scenario);
};
/// All but dropping whole faults.
std::span<const Reduction> reductions();

/// The scenario as its file would be read; empty if that is refused.
std::optional<Scenario> read_back(const Scenario& scenario);
/// With these faults instead, and valid.
std::optional<Scenario> with_faults(const Scenario& scenario, std::vector<faults::Fault> faults);

}  // namespace mrclab::lab
