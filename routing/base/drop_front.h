#pragma once
// Octets that wait, from their front on.

#include "routing/base/octets.h"

namespace mrclab::routing {

/// Takes the first `count` octets away. Once empty it gives its memory back: a fabric has thousands of connections,
/// each of which sends its table once and then hardly anything.
inline void drop_front(Octets& octets, size_t count) {
  if (count == octets.size()) {
    Octets().swap(octets);
    return;
  }
  octets.erase(octets.begin(), octets.begin() + static_cast<std::ptrdiff_t>(count));
}

}  // namespace mrclab::routing
