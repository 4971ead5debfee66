// What root makes where other users may have been: nothing outside is written or given away.

#include "netio/system/output_folder.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>

#include "other_users.h"
#include "temporary_directory.h"

using namespace mrclab::netio;
using namespace mrclab::netio::test;

namespace {

namespace fs = std::filesystem;

/// Sets the variables that sudo sets; empty: root without sudo.
class Sudo {
 public:
  explicit Sudo(const std::string& user) {
    if (user.empty()) {
      ::unsetenv("SUDO_UID");
      ::unsetenv("SUDO_GID");
    } else {
      ::setenv("SUDO_UID", user.c_str(), 1);
      ::setenv("SUDO_GID", user.c_str(), 1);
    }
  }
  ~Sudo() {
    ::unsetenv("SUDO_UID");
    ::unsetenv("SUDO_GID");
  }
};

fs::path folder(const fs::path& path, uid_t user, mode_t mode = 0755) {
  REQUIRE(fs::create_directory(path));
  REQUIRE(::chmod(path.c_str(), mode) == 0);
  own(path, user);
  return path;
}

void link(const fs::path& path, const fs::path& target, uid_t user) {
  fs::create_symlink(target, path);
  own(path, user);
}

struct Writer {
  const char* name;
  std::function<void(const fs::path&)> write;
};

/// Every way in which a file comes about here.
const std::vector<Writer>& writers() {
  static const std::vector<Writer> all = {
      {"write_file", [](const fs::path& path) { write_file(path, "text"); }},
      {"create_file",
       [](const fs::path& path) {
         create_file(path).write_all(
             "it", std::span<const uint8_t>(reinterpret_cast<const uint8_t*>("text"), 4));
       }},
      {"append_file",
       [](const fs::path& path) {
         append_file(path).write_all(
             "it", std::span<const uint8_t>(reinterpret_cast<const uint8_t*>("text"), 4));
       }},
      {"a folder", [](const fs::path& path) { OutputFolder::make(path).write_file("in", "text"); }},
  };
  return all;
}

}  // namespace

TEST_SUITE("files and folders that are made") {
  TEST_CASE("a file is made, replaced as a whole and appended to") {
    TemporaryDirectory directory;
    write_file(directory / "a", "first");
    REQUIRE(::chmod((directory / "a").c_str(), 0600) == 0);
    write_file(directory / "a", "second");
    CHECK(read_file(directory / "a") == "second");
    CHECK((fs::status(directory / "a").permissions() & fs::perms::others_read) == fs::perms::none);
    const FileDescriptor held = FileDescriptor::open(directory / "a", O_RDONLY);
    create_file(directory / "a");
    char byte;
    CHECK(::read(held.get(), &byte, 1) == 1);  // who reads the old one has all of it
    CHECK(read_file(directory / "a").empty());
    for (int i = 0; i < 2; ++i) {
      append_file(directory / "log")
          .write_all("log", std::span(reinterpret_cast<const uint8_t*>("x"), 1));
    }
    CHECK(read_file(directory / "log") == "xx");
    CHECK(std::distance(fs::directory_iterator(directory / ""), fs::directory_iterator()) == 2);
  }

  TEST_CASE("missing folders are made, links of one's own are followed, devices are written to") {
    TemporaryDirectory directory;
    OutputFolder::make(directory / "a/b/../b/./c").write_file("x", "1");
    CHECK(read_file(directory / "a/b/c/x") == "1");
    fs::create_symlink("a/b", directory / "short");
    write_file(directory / "short/y", "2");
    CHECK(read_file(directory / "a/b/y") == "2");
    fs::create_symlink(directory / "a/z", directory / "z");
    write_file(directory / "z", "3");
    CHECK(read_file(directory / "a/z") == "3");
    CHECK(fs::is_symlink(directory / "z"));
    for (const Writer& writer : writers()) {
      if (std::string(writer.name) != "a folder") CHECK_NOTHROW(writer.write("/dev/null"));
    }
    CHECK(fs::is_character_file("/dev/null"));
    const FileDescriptor open = FileDescriptor::open(directory / "open", O_RDWR | O_CREAT, 0644);
    write_file(name_of_open(open), "by descriptor");
    CHECK(read_file(directory / "open") == "by descriptor");
  }

  TEST_CASE("what cannot be made is said, as a place to change") {
    TemporaryDirectory directory;
    write_file(directory / "file", "");
    REQUIRE(::mkfifo((directory / "pipe").c_str(), 0644) == 0);
    fs::create_symlink("loop", directory / "loop");
    for (const char* name : {"no/such/a", "file/a", "loop", "pipe", "", "."}) {
      CAPTURE(name);
      CHECK_THROWS_AS(write_file(*name == '\0' ? fs::path() : directory / name, "x"), OutputError);
    }
    CHECK_THROWS_AS(OutputFolder::make(directory / "file/a"), OutputError);
    CHECK_THROWS_AS(OutputFolder::make("/proc/a"), OutputError);
    CHECK(fs::is_fifo(directory / "pipe"));
  }

  TEST_CASE("a link takes the place of a link only") {
    TemporaryDirectory directory;
    const OutputFolder here = OutputFolder::open(directory / "");
    CHECK(here.point_link("latest", "one"));
    CHECK(here.point_link("latest", "two"));
    CHECK(fs::read_symlink(directory / "latest") == "two");
    write_file(directory / "mine", "mine");
    CHECK_FALSE(here.point_link("mine", "two"));
    CHECK(read_file(directory / "mine") == "mine");
  }
}

TEST_SUITE_BEGIN("root: files of root");

TEST_CASE("no link of another user leads root out, whatever root makes") {
  struct Row {
    const char* what;
    /// Lays something into `place`, which is root's, and returns what is to be written.
    std::function<fs::path(const fs::path& place, const fs::path& outside)> lay;
  };
  const std::vector<Row> table = {
      {"a link in place of the file",
       [](const fs::path& place, const fs::path& outside) {
         link(place / "out", outside / "precious", kOther);
         return place / "out";
       }},
      {"a link to a file that is to come",
       [](const fs::path& place, const fs::path& outside) {
         link(place / "out", outside / "new", kOther);
         return place / "out";
       }},
      {"a link in place of the folder",
       [](const fs::path& place, const fs::path& outside) {
         link(place / "runs", outside, kOther);
         return place / "runs/out";
       }},
      {"a link on the way, up and down",
       [](const fs::path& place, const fs::path& outside) {
         folder(place / "a", 0);
         link(place / "a/b", "../..", kOther);
         return place / "a/b" / outside.filename() / "precious";
       }},
      {"a link behind a link of root",
       [](const fs::path& place, const fs::path& outside) {
         link(place / "theirs", outside, kOther);
         link(place / "ours", "theirs", 0);
         return place / "ours/out";
       }},
  };
  for (const std::string user : {"", "4712"}) {
    const Sudo sudo(user);
    for (const Row& row : table) {
      for (const Writer& writer : writers()) {
        CAPTURE(user);
        CAPTURE(row.what);
        CAPTURE(writer.name);
        TemporaryDirectory directory;
        const Outside outside(directory / "outside");
        const fs::path place = folder(directory / "place", 0, 01777);
        const fs::path out = row.lay(place, outside.path);
        CHECK_THROWS_AS(writer.write(out), OutputError);
        outside.check_untouched();
      }
    }
  }
}

TEST_CASE("root makes nothing in a folder that somebody else owns or may exchange things in") {
  struct Row {
    uid_t owner;
    mode_t mode;
    const char* user;  ///< who called with sudo
    bool made;
  };
  const Row table[] = {{0, 0755, "", true},
                       {0, 01777, "", true},
                       {0, 0777, "", false},
                       {0, 0775, "", true},  // its group is root's
                       {kOther, 0755, "", false},
                       {kOther, 01777, "", false},
                       {kOther, 0755, "4712", false},
                       {kCaller, 0755, "4712", true},
                       {kCaller, 0775, "4712", true},
                       {kCaller, 0777, "4712", false},
                       {kCaller, 0755, "", false},
                       {kCaller, 0755, "0x1268", false},
                       {kCaller, 0755, "4294967295", false}};
  for (const Row& row : table) {
    for (const bool below : {false, true}) {
      for (const Writer& writer : writers()) {
        CAPTURE(row.owner);
        CAPTURE(row.mode);
        CAPTURE(row.user);
        CAPTURE(below);
        CAPTURE(writer.name);
        const Sudo sudo(row.user);
        TemporaryDirectory directory;
        const fs::path place = folder(directory / "place", row.owner, row.mode);
        if (below) folder(place / "roots", 0);
        const fs::path out = below ? place / "roots/out" : place / "out";
        if (row.made) {
          CHECK_NOTHROW(writer.write(out));
          // In the caller's folder it is the caller's.
          CHECK(owner_of(out) == (below ? 0 : row.owner));
        } else {
          CHECK_THROWS_AS(writer.write(out), OutputError);
          CHECK_FALSE(fs::exists(out));
        }
      }
    }
  }
}

TEST_CASE("a link of who called with sudo leads only to what is that user's") {
  const Sudo sudo("4712");
  for (const Writer& writer : writers()) {
    CAPTURE(writer.name);
    TemporaryDirectory directory;
    const Outside outside(directory / "outside");
    const fs::path home = folder(directory / "home", kCaller);
    folder(home / "disk", kCaller);
    link(home / "runs", "disk", kCaller);
    CHECK_NOTHROW(writer.write(home / "runs/out"));
    CHECK(owner_of(home / "disk/out") == kCaller);
    link(home / "trap", outside.path, kCaller);
    CHECK_THROWS_AS(writer.write(home / "trap/new"), OutputError);
    CHECK_THROWS_AS(writer.write(home / "trap/precious"), OutputError);
    outside.check_untouched();
  }
}

TEST_CASE("another user's file is not replaced, not even in /tmp") {
  for (const Writer& writer : writers()) {
    CAPTURE(writer.name);
    TemporaryDirectory directory;
    const fs::path place = folder(directory / "place", 0, 01777);
    write_file(place / "theirs", "theirs");
    own(place / "theirs", kOther);
    CHECK_THROWS_AS(writer.write(place / "theirs"), OutputError);
    CHECK(read_file(place / "theirs") == "theirs");
    CHECK(owner_of(place / "theirs") == kOther);
  }
}

TEST_CASE("what is given to somebody is what was made, and nothing that it is linked to") {
  TemporaryDirectory directory;
  const Outside outside(directory / "outside");
  const OutputFolder run = *OutputFolder::open(directory / "").make_new("run");
  run.make_new("captures")->write_file("a", "a");
  write_file(directory / "run/verdict", "v");
  link(directory / "run/to-file", outside.path / "precious", 0);
  link(directory / "run/to-folder", outside.path, 0);
  fs::create_hard_link(outside.path / "precious", directory / "run/second-name");
  write_file(directory / "run/others", "o");
  own(directory / "run/others", kOther);
  fs::rename(directory / "run", directory / "renamed");
  link(directory / "run", outside.path, kCaller);  // what the name leads to now
  run.give_to({kCaller, kCaller});
  outside.check_untouched();
  for (const char* given : {"", "captures", "captures/a", "verdict", "to-file", "to-folder"}) {
    CAPTURE(given);
    CHECK(owner_of(directory / "renamed" / given) == kCaller);
  }
  CHECK(owner_of(directory / "renamed/second-name") == 0);
  CHECK(owner_of(directory / "renamed/others") == kOther);
  CHECK(owner_of(directory / "") == 0);
}

TEST_SUITE_END();
