// Commands in hosts of a lab that stays find what RDMA programs need, those in switches do not, and nothing of it is taken
// for somebody's change.

#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/lab/support/sandbox.h"
#include "tests/support/texts.h"

namespace mrclab::lab {
namespace {

using test::mentions;

bool has_libraries() { return std::filesystem::exists(MRCLAB_BINARY_DIR "/rdma/libibverbs.so.1"); }

/// What a shell line in a node prints.
CommandResult in_node(const char* node, const std::string& line,
                      std::vector<std::string> options = {}) {
  std::vector<std::string> words{"exec"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {node, "--", "sh", "-c", line});
  return mrclab(words);
}

TEST_SUITE_BEGIN("root: RDMA in hosts");

TEST_CASE("commands in hosts have verbs, addresses and device files; those in switches do not") {
  enter_sandbox();
  const auto before = kernel_snapshot();
  REQUIRE(mrclab({"up", "pair", "--name", "verbs"}).code == 0);
  const std::string show = "echo \"[$LD_LIBRARY_PATH][$MRCLAB_MGMT][$MRCLAB_MGMT_h1]\"";
  if (has_libraries()) {
    const std::string host = in_node("h0", show).output;
    CHECK(mentions(host, "/rdma][10.255.0.1][10.255.0.2]"));
    CHECK(in_node("h0", "cat /sys/class/infiniband/mrc0/ports/1/gid_attrs/types/0").output ==
          "RoCE v2\n");
    CHECK(in_node("h0", "ping -c 1 -W 9 h1.mgmt").code == 0);
    CHECK(mentions(in_node("h[0-1]", "echo $MRCLAB_MGMT").output, "h1: 10.255.0.2\n"));
    CHECK(in_node("p0.t0-0", show).output == "[][][]\n");
    CHECK(in_node("h0", "ls /sys/class/infiniband", {"--no-rdma"}).code != 0);
    const CommandResult refused = in_node("h0", "true", {"--held"});
    CHECK(refused.code == 2);
    CHECK(mentions(refused.output, "timing: held"));
  } else {
    const CommandResult refused = in_node("h0", "true", {"--rdma"});
    CHECK(refused.code == 2);
    CHECK(mentions(refused.output, "libibverbs-dev"));
    CHECK(in_node("h0", show).output == "[][][]\n");
  }
  CHECK(mrclab_json({"inspect", "verbs", "--faults", "--json"})["outside_faults"].empty());
  CHECK(mrclab({"down"}).code == 0);
  CHECK(kernel_snapshot() == before);
}

TEST_SUITE_END();

}  // namespace
}  // namespace mrclab::lab
