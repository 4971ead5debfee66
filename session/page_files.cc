#include "session/page_files.h"

#include <algorithm>
#include <array>

namespace mrclab::lab {

std::string_view media_type(std::string_view path) {
  struct Type {
    std::string_view ending, type;
  };
  constexpr std::array kTypes{
      Type{".html", "text/html; charset=utf-8"}, Type{".css", "text/css; charset=utf-8"},
      Type{".js", "text/javascript; charset=utf-8"}, Type{".md", "text/markdown; charset=utf-8"}};
  const auto found = std::find_if(kTypes.begin(), kTypes.end(),
                                  [&](const Type& type) { return path.ends_with(type.ending); });
  return found == kTypes.end() ? "application/octet-stream" : found->type;
}

}  // namespace mrclab::lab
