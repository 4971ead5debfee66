// Frames of a lab cross its veths in bundles, and one by one for who listens as libpcap does, from its first packet.

#include <doctest/doctest.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>

#include "live/world/live_lab.h"
#include "live/world/live_options.h"
#include "scenario/spec/scenario.h"
#include "tests/lab/support/sandbox.h"
#include "tests/netio/packet/test_listener.h"

namespace mrclab::lab {
namespace {

/// Short frames, many in each tick.
constexpr const char* kShortMessages = R"(
name: short
fabric: pair
workload:
  - permutation: {hosts: all, load: 60%, message: 512B, shift: 1}
end: 10ms
)";

/// The next few hundred packets at a socket.
netio::test::Heard hear(const netio::FileDescriptor& socket) {
  netio::test::Heard heard;
  const auto deadline = std::chrono::steady_clock::now() + kTestPatience;
  while (heard.frames < 300 && std::chrono::steady_clock::now() < deadline) {
    pollfd watched{socket.get(), POLLIN, 0};
    ::poll(&watched, 1, 100);
    const netio::test::Heard more = netio::test::all_heard(socket);
    heard.frames += more.frames;
    heard.bundles += more.bundles;
  }
  CHECK(heard.frames >= 300);
  return heard;
}

}  // namespace

TEST_SUITE("root: bundled wires") {
  TEST_CASE("the daemons themselves notice who listens in promiscuous mode, at either end") {
    enter_sandbox();
    const Scenario scenario = parse_scenario(read_yaml_text(kShortMessages, "short.yaml"));
    LiveLabOptions own;
    own.name = "t_bundles_" + std::to_string(::getpid());
    own.programs = MRCLAB_BINARY_DIR;
    own.isolate = true;  // hosts and switches in processes of their own
    LiveLabOptions options = live_options_of(scenario, own);
    options.dilation = 2'000;
    LiveLab lab(scenario.topology, options);
    lab.start();
    // The lab does not take a step from here on, so it looks for nobody and learns of nobody.
    for (const auto& [node, port] : {std::pair{"h0", "p0"}, {"p0.t0-0", "d0"}}) {
      const std::string name = "mrclab-" + own.name + "-" + node;
      CAPTURE(name);
      const auto ns = netio::NetworkNamespace::open(name);
      CHECK(hear(netio::test::unnoticed_socket(ns, port)).bundles > 0);
      CHECK(hear(netio::test::listening_socket(ns, port)).bundles == 0);
    }
  }
}

}  // namespace mrclab::lab
