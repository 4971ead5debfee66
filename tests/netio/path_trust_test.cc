// Who could have written a file, by owners, modes and the folders on the way to it.

#include "netio/system/path_trust.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "other_users.h"
#include "temporary_directory.h"

using namespace mrclab::netio;
using namespace mrclab::netio::test;
namespace fs = std::filesystem;

namespace {

/// FOLDER/inner/file in /tmp, of this user, which nobody else may write.
struct Tree {
  TemporaryDirectory folder;
  fs::path inner = folder / "inner", file = inner / "file";
  Tree() {
    fs::create_directory(inner);
    write_file(file, "x");
    for (const fs::path& path : {fs::path(folder / ""), inner}) set(path, 0755);
    set(file, 0644);
  }
  static void set(const fs::path& path, mode_t mode) { REQUIRE(::chmod(path.c_str(), mode) == 0); }
};

}  // namespace

TEST_CASE("a file that only its owner may write, in folders of the same kind, is the owner's") {
  const Tree tree;
  CHECK_FALSE(others_may_have_written(tree.file));
  CHECK_FALSE(others_may_have_written(tree.file / "none"));
}

TEST_CASE("others may have written a file with their write bit, or in a folder with it") {
  const Tree tree;
  for (const fs::path& path : {tree.file, tree.inner, fs::path(tree.folder / "")}) {
    CAPTURE(path.string());
    struct stat before {};
    REQUIRE(::stat(path.c_str(), &before) == 0);
    for (const mode_t mode : {0666u, 0777u, 0646u}) {
      CAPTURE(mode);
      Tree::set(path, mode);
      // Root passes through a folder whatever its mode is; another user needs the x bit.
      if (fs::is_directory(path)) Tree::set(path, mode | 0111);
      CHECK(others_may_have_written(tree.file));
    }
    Tree::set(path, before.st_mode & 07777);
    CHECK_FALSE(others_may_have_written(tree.file));
  }
  Tree::set(tree.inner, 01777);  // as /tmp: others cannot replace what is not theirs
  CHECK_FALSE(others_may_have_written(tree.file));
}

TEST_SUITE("root: who may write") {
  TEST_CASE("a group whose members are not the owner alone may have written") {
    const Tree tree;
    constexpr gid_t kDaemons = 1;
    for (const fs::path& path : {tree.file, tree.inner}) {
      CAPTURE(path.string());
      const mode_t mode = fs::is_directory(path) ? 0755 : 0644;
      REQUIRE(::chown(path.c_str(), 0, kDaemons) == 0);
      CHECK_FALSE(others_may_have_written(tree.file));
      Tree::set(path, mode | 0020);
      CHECK(others_may_have_written(tree.file));
      REQUIRE(::chown(path.c_str(), 0, 0) == 0);
      CHECK_FALSE(others_may_have_written(tree.file));
      Tree::set(path, mode);
    }
  }

  TEST_CASE("a folder on the way that belongs to another user is enough") {
    const Tree tree;
    own(tree.folder / "", kOther);
    CHECK(others_may_have_written(tree.file));
  }
}
