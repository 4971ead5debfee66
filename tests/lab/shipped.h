#pragma once
// What the project ships, for tests that go through all of it.

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "fabric/fabric_file.h"

namespace mrclab::test {

/// The names of topologies/<folder>/*.yaml, sorted.
inline std::vector<std::string> shipped(const char* folder) {
  std::vector<std::string> names;
  const auto path = source_directory() / "topologies" / folder;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace mrclab::test
