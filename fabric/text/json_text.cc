#include "fabric/text/json_text.h"

namespace mrclab {

bool nests_too_deep(std::string_view json) {
  size_t depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < json.size(); ++i) {
    switch (json[i]) {
      case '"': in_string = !in_string; break;
      case '\\': i += in_string ? 1 : 0; break;
      case '[':
      case '{':
        if (!in_string && ++depth > kMaxJsonDepth) return true;
        break;
      case ']':
      case '}': depth -= !in_string && depth > 0 ? 1 : 0; break;
      default: break;
    }
  }
  return false;
}

}  // namespace mrclab
