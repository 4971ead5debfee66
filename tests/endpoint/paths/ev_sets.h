#pragma once
// Sets of entropy values for the tests of endpoint/paths.

#include <vector>

#include "endpoint/paths/ev_set.h"
#include "fabric/topology/path.h"
#include "tests/support/times.h"

namespace mrclab::test {

/// `planes` planes with `uplinks` values each.
inline endpoint::EvSet make_set(uint32_t planes, uint32_t uplinks, uint32_t qp = 0,
                                endpoint::EvSetLimits limits = {}) {
  std::vector<EntropyValue> values;
  for (uint32_t p = 0; p < planes; ++p) {
    for (uint32_t u = 0; u < uplinks; ++u) values.push_back(ev_of({p, u}));
  }
  return {values, planes, limits, {7, NodeId{0}, qp}};
}

inline std::vector<uint32_t> choose_n(endpoint::EvSet& set, size_t n, uint32_t ports) {
  std::vector<uint32_t> chosen;
  for (size_t i = 0; i < n; ++i) chosen.push_back(set.choose(ports, us(0)).value());
  return chosen;
}

}  // namespace mrclab::test
