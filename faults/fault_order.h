#pragma once
// A fault by hand, as words of a command line or of a page, read as a fault of a scenario.

#include <map>
#include <optional>
#include <string>

#include "fabric/topology/pattern.h"
#include "faults/fault.h"

namespace mrclab::lab {

/// An order by hand.
struct FaultOrder {
  std::string kind;
  std::map<std::string, std::string> body;  ///< key and value as in a scenario
  std::optional<std::string> at;            ///< "300us", "+50us", "+2rtt"; empty: now
};

/// The fault that the order means, from `at` on. Throws InputError: "link_down: found ...: expected ...".
faults::Fault fault_of(const FaultOrder& order, FabricTime at, NameResolver& names);

}  // namespace mrclab::lab
