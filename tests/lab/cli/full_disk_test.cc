// Runs on a disk that becomes full, sooner or later.

#include <doctest/doctest.h>
#include <sys/mount.h>

#include <filesystem>
#include <fstream>

#include "tests/lab/support/sandbox.h"
#include "tests/lab/support/temporary_runs.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;

/// A file system of its own that holds little.
class SmallDisk {
 public:
  SmallDisk(fs::path path, const std::string& size) : path_(std::move(path)) {
    fs::create_directories(path_);
    REQUIRE(::mount("tmpfs", path_.c_str(), "tmpfs", 0, ("size=" + size).c_str()) == 0);
  }
  ~SmallDisk() { ::umount2(path_.c_str(), MNT_DETACH); }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

 private:
  fs::path path_;
};

fs::path only_run_in(const fs::path& runs) {
  fs::path found;
  for (const auto& entry : fs::directory_iterator(runs)) {
    if (entry.is_directory() && !entry.is_symlink()) found = entry.path();
  }
  return found;
}

}  // namespace

TEST_SUITE_BEGIN("root: full disk");

TEST_CASE("a run that finds the disk full ends and says so, and leaves a whole verdict or none") {
  enter_sandbox();
  const test::TemporaryRuns folder;
  const fs::path file = folder.path() / "s.yaml";
  std::ofstream(file) << "name: s\nfabric: pair\nseed: 1\nworkload:\n"
                         "  - write: {from: h0, to: h1, size: 64KiB, until: end}\n"
                         "end: 300us\nexpect: [no_qp_error]\n";
  const auto before = kernel_snapshot();
  for (const std::string world : {"live", "sim"}) {
    size_t full = 0;
    // The scenario; records; captures; events; the verdict; the page: each finds no room once.
    for (const char* size : {"20k", "60k", "120k", "240k", "500k", "1m", "1500k", "64m"}) {
      CAPTURE(world);
      CAPTURE(std::string(size));
      const fs::path runs = folder.path() / "small";
      const SmallDisk disk(runs, size);
      const CommandResult run = mrclab({"run", file, "--world", world, "--out", runs});
      CAPTURE(run.output);
      if (run.code == 0) {
        CHECK(fs::exists(runs / "latest" / "report.html"));
        CHECK_FALSE(fs::exists(runs / "latest" / "UNJUDGED"));
        continue;
      }
      ++full;
      CHECK(run.code == 3);
      CHECK(run.output.find("No space left on device") != std::string::npos);
      const fs::path left = only_run_in(runs);
      // Where a daemon's last report is missing, the rest is judged, and the verdict names what is missing.
      const bool judged = run.output.find("INCONCLUSIVE") != std::string::npos;
      CHECK(fs::exists(fs::symlink_status(runs / "latest")) == judged);
      CHECK(fs::exists(left / "UNJUDGED") == (!judged && !left.empty()));
      for (const char* name : {"verdict.json", "junit.xml", "report.html", "SHA256SUMS"}) {
        CHECK(fs::exists(left / name) == judged);
      }
    }
    CHECK(full >= 4);
    CHECK(full < 8);
  }
  CHECK(difference(before, kernel_snapshot()) == "");
}

TEST_SUITE_END();

}  // namespace mrclab::lab
