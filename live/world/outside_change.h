#pragma once
// A change of a node or a port by another program, as node_links.h and node_guard.h find it.

#include <string>

#include "fabric/topology/topology.h"

namespace mrclab::lab {

struct OutsideChange {
  enum class Kind : uint8_t {
    kDown,   ///< `port` is down or gone
    kUp,     ///< `port` is up again
    kOther,  ///< the model has no effect for it
  };
  Kind kind = Kind::kOther;
  PortRef port = {};
  std::string what;  ///< "set down p1.t0-1:d0", "removed 3 routes of h0 (fd00::1/128, ...)"
};

}  // namespace mrclab::lab
