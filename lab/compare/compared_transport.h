#pragma once
// The transports that `mrclab compare` knows. Each is what the scenario says with some of its transport's
// options replaced; the first runs it as it is.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lab/scenario/scenario.h"

namespace mrclab::lab {

struct ComparedTransport {
  std::string_view name;     ///< "mrc"
  std::string_view about;    ///< one line, with its source
  std::string_view options;  ///< as in a scenario's `transport:`; empty: nothing is replaced
};
std::span<const ComparedTransport> compared_transports();
/// Their names.
std::vector<std::string> transport_names();

/// Throws NameError suggesting the nearest one.
const ComparedTransport& find_transport(std::string_view name);

/// The scenario under that transport. Its name stays.
Scenario under_transport(const Scenario& scenario, const ComparedTransport& transport);

}  // namespace mrclab::lab
