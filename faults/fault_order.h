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

/// The body of an order that is typed: words as "for=50us", or one alone for the target: what the kind is about. Of a
/// kind that there is not no word alone can be read. Throws InputError.
std::map<std::string, std::string> body_of_words(const std::string& kind,
                                                 const std::vector<std::string>& words);
/// A whole order in a line: "link_down p0.t0-0:u0 for=40us at=250us". What stands in brackets or quotes is one word.
FaultOrder order_of_line(const std::string& line);

}  // namespace mrclab::lab
