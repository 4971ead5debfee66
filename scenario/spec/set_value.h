#pragma once
// A value that a command line sets in a scenario (scenario_document.h).

#include <string>

namespace mrclab::lab {

/// "size" or "workload[0].write.size", and its YAML.
struct SetValue {
  std::string key, value;
};

}  // namespace mrclab::lab
