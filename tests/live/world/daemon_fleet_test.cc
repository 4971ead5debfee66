// The daemons of a lab before time begins: whose children they are, and what they do until then.

#include "live/world/daemon_fleet.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <set>
#include <thread>

#include "fabric/topology/fabric_file.h"
#include "live/world/live_lab.h"
#include "netio/kernel/link.h"
#include "netio/system/file_descriptor.h"
#include "scenario/spec/shipped_files.h"
#include "tests/lab/support/sandbox.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

struct WaitingLab {
  WaitingLab() { enter_sandbox(); }

  static LiveLabOptions isolated() {
    LiveLabOptions options;
    options.name = "t_fleet_" + std::to_string(::getpid());
    options.shape = parse_fabric(read_yaml_file(lab::find_fabric("pair")));
    options.isolate = true;
    options.dilation = 2000;
    options.programs = MRCLAB_BINARY_DIR;
    return options;
  }

  Topology topology = read_fabric_file(lab::find_fabric("pair"));
};

pid_t parent_of(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("PPid:")) return std::stoi(line.substr(5));
  }
  return -1;
}

/// How many packet sockets are open in a namespace.
size_t packet_sockets(const std::string& ns) {
  return netio::NetworkNamespace::open(ns).run_in([] {
    std::ifstream in("/proc/thread-self/net/packet");
    std::string line;
    size_t count = 0;
    std::getline(in, line);  // what stands in which column
    while (std::getline(in, line)) ++count;
    return count;
  });
}

}  // namespace

TEST_SUITE("root: daemons at bring-up") {
  TEST_CASE("each daemon is the lab's own child, in a group of its own, and ps shows which it is") {
    const WaitingLab waiting;
    const LiveLab lab(waiting.topology, WaitingLab::isolated());
    std::set<pid_t> pids;
    const auto count = static_cast<uint32_t>(lab.plan().processes.size());
    for (uint32_t i = 0; i < count; ++i) {
      const pid_t pid = lab.fleet().pid_of(i);
      pids.insert(pid);
      CHECK(parent_of(pid) == ::getpid());
      CHECK(::getpgid(pid) == pid);
      std::string words = netio::read_file("/proc/" + std::to_string(pid) + "/cmdline");
      words.resize(words.find_last_not_of('\0') + 1);
      CHECK(words.ends_with("/" + lab.plan().processes[i].name + ".json"));
      CHECK(std::count(words.begin(), words.end(), '\0') == 1);
      CHECK(lab.fleet().ask(i, "status").at("process") == lab.plan().processes[i].name);
    }
    CHECK(pids.size() == count);
  }

  TEST_CASE("daemons that wait for time to begin sleep, and all go on when it does") {
    using Clock = std::chrono::steady_clock;
    const WaitingLab waiting;
    LiveLab lab(waiting.topology, WaitingLab::isolated());
    const auto ticks = [&lab] { return lab.fleet().ask(0, "status").at("ticks").get<int64_t>(); };
    const Clock::time_point begin = Clock::now();
    const int64_t before = ticks();
    int64_t after = before;
    for (int asked = 0; asked < 15; ++asked) after = ticks();
    // At most one for each time that it looks at its socket, every 20 ms; a daemon that ticks as while time
    // passes makes 80 in them. A machine that is busy makes it fewer.
    const auto elapsed =
        std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin);
    CHECK(after - before <= elapsed.count() / 10 + 4);

    lab.start();
    const auto deadline = Clock::now() + kTestPatience;
    while (lab.now() < FabricTime::from_us(20)) {  // what the slowest has committed
      REQUIRE(Clock::now() < deadline);
      lab.step();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    CHECK(lab.outside_faults().total() == 0);
  }

  TEST_CASE(
      "daemons open their rings while the links are not there yet, and go with a lab that is given "
      "up") {
    const WaitingLab waiting;
    const auto before = kernel_snapshot();
    const LiveLabOptions options = WaitingLab::isolated();
    const std::string host = "mrclab-" + options.name + "-h0";
    size_t carriers = 0;
    const auto give_up = [&](const BringUpStep& step) {
      if (step.what != "links") return;
      const auto deadline = std::chrono::steady_clock::now() + kTestPatience;
      // The kernel reports no new packet socket, so the test asks again and again.
      while (packet_sockets(host) < 3) {  // two rings, one to send
        REQUIRE(std::chrono::steady_clock::now() < deadline);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      netio::NamespaceNetlink netlink(netio::NetworkNamespace::open(host));
      for (const netio::LinkState& link : netlink.links())
        carriers += link.name != "lo" && link.carrier;
      throw std::runtime_error("enough");
    };
    CHECK_THROWS_WITH_AS(LiveLab(waiting.topology, options, give_up), "enough", std::runtime_error);
    CHECK(carriers == 0);
    CHECK(difference(before, kernel_snapshot()) == "");
    CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);  // none is left, not even as a zombie
  }

  TEST_CASE("a program that cannot start its daemons is told with its last words") {
    const WaitingLab waiting;
    LiveLabOptions options = WaitingLab::isolated();
    options.shape.name = std::string(300, 'x');
    CHECK_THROWS_WITH_AS(LiveLab(waiting.topology, options), doctest::Contains("exit code 2: "),
                         std::runtime_error);
  }
}
