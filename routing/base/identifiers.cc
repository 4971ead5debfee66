#include "routing/base/identifiers.h"

namespace mrclab::routing {

std::string to_string(AsNumber as) { return std::to_string(as.value); }

std::string to_string(RouterId id) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) {
    if (!text.empty()) text += '.';
    text += std::to_string(id.value >> shift & 0xFF);
  }
  return text;
}

}  // namespace mrclab::routing
