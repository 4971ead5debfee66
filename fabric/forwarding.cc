#include "fabric/forwarding.h"

#include "fabric/pattern.h"

namespace mrclab {

Forwarding ForwardingChoice::of(std::string_view plane, std::string_view name) const {
  Forwarding forwarding = all;
  for (const Exception& e : exceptions) {
    if (matches_pattern(e.pattern, plane) || matches_pattern(e.pattern, name)) {
      forwarding = e.forwarding;
    }
  }
  return forwarding;
}

}  // namespace mrclab
