#include <doctest/doctest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "fabric/text/yaml.h"
#include "live/bringup/lab_record.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;

struct TemporaryPaths : LabPaths {
  TemporaryPaths() {
    std::string pattern = fs::temp_directory_path() / "mrclab-record-XXXXXX";
    run_root = fs::path(::mkdtemp(pattern.data())) / "mrclab";
  }
  ~TemporaryPaths() { fs::remove_all(run_root.parent_path()); }
};

LabRecord some_record(const std::string& lab) {
  return {lab, "pair", 0x1234'5678'9abc'def0, boot_id(), mark_of(::getpid(), "test"), {"h0", "h1"}};
}

TEST_CASE("a record reads back as it was written") {
  const TemporaryPaths paths;
  create_record(paths, some_record("first"));
  CHECK(read_record(paths, "first") == some_record("first"));
  CHECK(recorded_labs(paths) == std::vector<std::string>{"first"});
}

TEST_CASE("the second lab of a name is refused while the first is up") {
  const TemporaryPaths paths;
  create_record(paths, some_record("twin"));
  CHECK_THROWS_WITH_AS(create_record(paths, some_record("twin")),
                       doctest::Contains("is up already"), InputError);
}

TEST_CASE("a lab whose owner is gone is called left behind") {
  const TemporaryPaths paths;
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  LabRecord record = some_record("ghost");
  record.owner = {child, 1, "mrclab"};
  ::waitpid(child, nullptr, 0);
  create_record(paths, record);
  CHECK_THROWS_WITH_AS(create_record(paths, some_record("ghost")), doctest::Contains("left behind"),
                       InputError);
}

TEST_CASE("a half-written record reads as none") {
  const TemporaryPaths paths;
  create_record(paths, some_record("half"));
  std::ofstream(paths.lab_directory("half") / "record.json") << "{\"lab\": \"half\", \"nod";
  CHECK_FALSE(read_record(paths, "half"));
}

TEST_CASE("a record that names another lab reads as none") {
  const TemporaryPaths paths;
  create_record(paths, some_record("mine"));
  fs::create_directories(paths.lab_directory("yours"));
  fs::copy(paths.lab_directory("mine") / "record.json", paths.lab_directory("yours"));
  CHECK_FALSE(read_record(paths, "yours"));
}

TEST_CASE("names that could reach outside, or into another lab, are refused") {
  for (const char* name : {"", "../x", "a/b", "a-b", "a.b", "A", "1a", "-a", ".",
                           "a23456789012345678901234567890123"}) {
    CAPTURE(name);
    CHECK_THROWS_AS(require_lab_name(name), InputError);
  }
  CHECK_NOTHROW(require_lab_name("octet_2"));
}

TEST_CASE("processes are read back in the order they were recorded") {
  const TemporaryPaths paths;
  create_record(paths, some_record("busy"));
  record_process(paths, "busy", {10, 100, "/x/mrc-switchd"});
  record_process(paths, "busy", {11, 101, "/x/mrc-endpointd"});
  const std::vector<ProcessMark> expected{{10, 100, "/x/mrc-switchd"},
                                          {11, 101, "/x/mrc-endpointd"}};
  CHECK(recorded_processes(paths, "busy") == expected);
}

TEST_CASE("of several that start at once one gets the name, the others hear that it is up") {
  constexpr int kAtOnce = 8;
  for (int round = 0; round < 20; ++round) {
    const TemporaryPaths paths;
    int results[2], hold[2];
    REQUIRE(::pipe(results) == 0);
    REQUIRE(::pipe(hold) == 0);
    for (int i = 0; i < kAtOnce; ++i) {
      if (::fork() != 0) continue;
      ::close(hold[1]);
      char result = '+';
      try {
        create_record(paths, some_record("race"));
      } catch (const InputError& error) {
        result = std::string(error.what()).find("is up already") != std::string::npos ? '-' : '?';
      }
      char end;
      if (::write(results[1], &result, 1) != 1 || ::read(hold[0], &end, 1) != 0) ::_exit(1);
      ::_exit(0);
    }
    std::string all(kAtOnce, ' ');
    for (char& result : all) REQUIRE(::read(results[0], &result, 1) == 1);
    for (const int fd : {hold[0], hold[1], results[0], results[1]}) ::close(fd);
    while (::wait(nullptr) > 0) {
    }
    std::sort(all.begin(), all.end());
    CHECK(all == "+-------");
    CHECK(recorded_labs(paths) == std::vector<std::string>{"race"});
  }
}

TEST_CASE("what a lab leaves that died before its record was whole is no lab, and is removed") {
  const TemporaryPaths paths;
  create_record(paths, some_record("alive"));
  const pid_t dead = ::fork();
  if (dead == 0) ::_exit(0);
  ::waitpid(dead, nullptr, 0);
  const fs::path unborn = paths.run_root / (".unborn." + std::to_string(dead));
  const fs::path coming = paths.run_root / (".coming." + std::to_string(::getpid()));
  fs::create_directory(unborn);
  fs::create_directory(coming);
  CHECK(recorded_labs(paths) == std::vector<std::string>{"alive"});
  remove_unborn(paths);
  CHECK_FALSE(fs::exists(unborn));
  CHECK(fs::exists(coming));
}

TEST_CASE("a process that the kernel is taking apart has died, and its unborn lab is removed") {
  const TemporaryPaths paths;
  fs::create_directories(paths.run_root);
  CHECK_FALSE(is_exiting(::getpid()));
  bool removed_early = false;
  // Memory takes long to free; a look in that time is very likely, not certain.
  for (int attempt = 0; attempt < 50 && !removed_early; ++attempt) {
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
      // In small pages: those of 2 MiB are freed too soon to be seen.
      constexpr size_t kMuch = size_t{128} << 20;
      void* const much =
          ::mmap(nullptr, kMuch, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (much == MAP_FAILED) ::_exit(1);
      ::madvise(much, kMuch, MADV_NOHUGEPAGE);
      std::memset(much, 'x', kMuch);
      if (::write(ready[1], "x", 1) != 1) ::_exit(1);
      for (;;) ::pause();
    }
    char byte = 0;
    REQUIRE(::read(ready[0], &byte, 1) == 1);
    const fs::path unborn = paths.run_root / (".dying." + std::to_string(child));
    fs::create_directory(unborn);
    remove_unborn(paths);
    CHECK(fs::exists(unborn));
    ::kill(child, SIGKILL);
    while (fs::exists(unborn)) {
      const bool alive = process_start_time(child).has_value();
      remove_unborn(paths);
      removed_early = alive && !fs::exists(unborn) && process_start_time(child).has_value();
    }
    ::waitpid(child, nullptr, 0);
    ::close(ready[0]);
    ::close(ready[1]);
  }
  CHECK(removed_early);
}

TEST_CASE("a process is running only with its own start time") {
  const ProcessMark self = mark_of(::getpid(), "test");
  CHECK(is_running(self));
  CHECK_FALSE(is_running({self.pid, self.start_time + 1, "test"}));
  CHECK_FALSE(is_running({0, 0, ""}));
}

}  // namespace
}  // namespace mrclab::lab
