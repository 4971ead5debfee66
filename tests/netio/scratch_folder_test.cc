#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "netio/system/scratch_folder.h"

namespace mrclab::netio {
namespace {

namespace fs = std::filesystem;

/// Of this process alone, so that tests that run at once have nothing to do with each other.
std::string own_prefix() { return "mrclab-scratch-" + std::to_string(::getpid()) + "-"; }

void put_file(const fs::path& folder) { std::ofstream(folder / "file") << "something"; }

size_t folders_of(const std::string& prefix) {
  size_t count = 0;
  for (const auto& entry : fs::directory_iterator(fs::temp_directory_path())) {
    count += entry.path().filename().string().starts_with(prefix);
  }
  return count;
}

}  // namespace

TEST_CASE("a scratch folder goes with its owner, and leaves those of others alone") {
  const std::string prefix = own_prefix();
  std::optional<ScratchFolder> first(prefix);
  put_file(first->path());
  {
    ScratchFolder second(prefix);
    put_file(second.path());
    CHECK(fs::exists(first->path() / "file"));
    CHECK(folders_of(prefix) == 2);
  }
  CHECK(fs::exists(first->path() / "file"));
  first.reset();
  CHECK(folders_of(prefix) == 0);
}

TEST_CASE("what a killed process left is removed by the next one of its kind") {
  const std::string prefix = own_prefix();
  const pid_t child = ::fork();
  if (child == 0) {
    const ScratchFolder left(prefix);
    put_file(left.path());
    ::kill(::getpid(), SIGKILL);
  }
  REQUIRE(child > 0);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  REQUIRE(folders_of(prefix) == 1);
  const ScratchFolder next(prefix);
  CHECK(folders_of(prefix) == 1);
}

}  // namespace mrclab::netio
