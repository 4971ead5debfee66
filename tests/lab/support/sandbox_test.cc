// The corner of the machine that tests of labs live in shows them their own things only.

#include "tests/lab/support/sandbox.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mount.h>

#include <filesystem>

#include "netio/system/file_descriptor.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;
using netio::check_system_call;

/// An empty file system on a folder.
class Mounted {
 public:
  explicit Mounted(fs::path folder) : folder_(std::move(folder)) {
    fs::create_directories(folder_);
    check_system_call("mount", ::mount("tmpfs", folder_.c_str(), "tmpfs", 0, nullptr));
  }
  ~Mounted() { ::umount2(folder_.c_str(), MNT_DETACH); }

 private:
  fs::path folder_;
};

TEST_SUITE("root: sandbox") {
  TEST_CASE("what others have mounted under a sandbox's /run is not seen, and what is on it is") {
    enter_sandbox();
    const fs::path theirs = "/run/theirs";
    {
      const Mounted of_others(theirs);
      const auto reached = netio::FileDescriptor::open(theirs, O_PATH | O_DIRECTORY);
      const Mounted run("/run");  // as a test does that begins while labs of others are up
      const auto before = kernel_snapshot();
      check_system_call(
          "unmount",
          ::umount2(("/proc/self/fd/" + std::to_string(reached.get())).c_str(), MNT_DETACH));
      CHECK(difference(before, kernel_snapshot()) == "");
      {
        const Mounted ours("/run/ours");
        CHECK(difference(before, kernel_snapshot()).find("+ mount  /run/ours") !=
              std::string::npos);
      }
    }
    fs::remove(theirs);
  }
}

}  // namespace
}  // namespace mrclab::lab
