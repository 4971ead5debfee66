#pragma once
// Which faults of a schedule are one and the same in its file: the times of an entry with `every:`.

#include <cstddef>
#include <vector>

#include "faults/fault.h"

namespace mrclab::faults {

/// Where a fault stands in a `faults:` list.
struct PlaceInFaults {
  size_t entry = 0;
  size_t part = 0;  ///< of the entry's `parallel`; 0 where it has none
  auto operator<=>(const PlaceInFaults&) const = default;
};

/// By fault of parse_faults(), which has the same arguments and throws the same.
std::vector<PlaceInFaults> places_in_faults(const YamlValue& list, NameResolver& names,
                                            FabricTime end = FabricTime::never());

}  // namespace mrclab::faults
