#pragma once
// Users other than root, for tests as root: what they own, and what root keeps from them.

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "netio/system/file_descriptor.h"

namespace mrclab::netio::test {

inline constexpr uid_t kOther = 4711;   ///< a user of the same machine
inline constexpr uid_t kCaller = 4712;  ///< the user who calls root with sudo

/// The owner of a file, a folder or a link itself; no user's id if it is not there.
inline uid_t owner_of(const std::filesystem::path& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 ? info.st_uid : ~uid_t{0};
}

inline void own(const std::filesystem::path& path, uid_t user) {
  REQUIRE(::lchown(path.c_str(), user, user) == 0);
}

/// A folder of root with a file in it, to which no other user may lead what is written.
struct Outside {
  explicit Outside(const std::filesystem::path& where) : path(where) {
    REQUIRE(std::filesystem::create_directory(path));
    REQUIRE(::chmod(path.c_str(), 0755) == 0);
    write_file(path / "precious", "precious");
  }
  void check_untouched() const {
    namespace fs = std::filesystem;
    CHECK(read_file(path / "precious") == "precious");
    CHECK(owner_of(path) == 0);
    CHECK(owner_of(path / "precious") == 0);
    CHECK(std::distance(fs::directory_iterator(path), fs::directory_iterator()) == 1);
  }
  std::filesystem::path path;
};

}  // namespace mrclab::netio::test
