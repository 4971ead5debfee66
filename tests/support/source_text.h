#pragma once
// Files of the source tree, for tests of what stands in them.

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace mrclab::test {

inline std::string source_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  REQUIRE_MESSAGE(file, path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace mrclab::test
