#pragma once
// A fabric that the project ships, for tests of the rooms below lab/.

#include <filesystem>
#include <string>

namespace mrclab::test {

/// topologies/fabrics/<name>.yaml
inline std::filesystem::path shipped_fabric(const std::string& name) {
  return std::filesystem::path(MRCLAB_SOURCE_DIR) / "topologies" / "fabrics" / (name + ".yaml");
}

}  // namespace mrclab::test
