#pragma once
// The sources of the product, as what tests of them read.

#include <filesystem>
#include <map>
#include <string>

#include "tests/support/source_text.h"

namespace mrclab::test {

/// By path from the root, with their text: the .h and .cc of all rooms, which have a CMakeLists.txt each.
inline const std::map<std::string, std::string>& product_sources() {
  namespace fs = std::filesystem;
  static const std::map<std::string, std::string> kSources = [] {
    std::map<std::string, std::string> sources;
    const fs::path root = MRCLAB_SOURCE_DIR;
    for (const auto& room : fs::directory_iterator(root)) {
      if (!fs::exists(room.path() / "CMakeLists.txt") || room.path().filename() == "tests")
        continue;
      for (const auto& entry : fs::recursive_directory_iterator(room.path())) {
        if (entry.path().extension() != ".h" && entry.path().extension() != ".cc") continue;
        sources[entry.path().lexically_relative(root).string()] = source_text(entry.path());
      }
    }
    return sources;
  }();
  return kSources;
}

}  // namespace mrclab::test
