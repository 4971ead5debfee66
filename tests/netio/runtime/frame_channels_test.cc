// Fast wires between two drivers (two_drivers.h): a driver hands frames to the other in memory where no program listens.

#include "netio/runtime/frame_channels.h"

#include <doctest/doctest.h>

#include <chrono>
#include <optional>
#include <string_view>

#include "tests/netio/packet/test_listener.h"
#include "tests/netio/runtime/two_drivers.h"

using namespace mrclab;
using namespace mrclab::netio;
using namespace mrclab::netio::test;

namespace {

constexpr std::chrono::seconds kPatience{60};

}  // namespace

TEST_SUITE("root: fast wires") {
  TEST_CASE("frames of fast wires cross in memory; the history is that of the veth") {
    Log host, leaf;
    for (const bool fast : {false, true}) {
      TwoNodes nodes(FabricTime::from_us(60));
      if (fast) nodes.cross_in_memory();
      REQUIRE(nodes.run(7, 1));
      const DriverReport report = nodes.host_driver->report();
      const uint64_t received = nodes.host_socket->statistics().received;
      CHECK(report.arrivals.unknown == 0);
      CHECK(report.arrivals.late == 0);
      CHECK(report.frames_by_channel == (fast ? report.frames_sent : 0));
      CHECK((received == 0) == fast);
      if (fast) {
        CHECK(nodes.host->log == host);
        CHECK(nodes.leaf->log == leaf);
      }
      host = nodes.host->log;
      leaf = nodes.leaf->log;
    }
  }

  TEST_CASE("a fast wire is a veth for who listens at either end, and where the lab says so") {
    for (const char* who : {"host", "leaf", "lab"}) {
      CAPTURE(who);
      TwoNodes nodes(FabricTime::from_us(60));
      nodes.cross_in_memory();
      nodes.host_driver->send_alone_where(nodes.ports());
      nodes.leaf_driver->send_alone_where(nodes.ports());
      for (int i = 0; i < 4; ++i) nodes.host_driver->tick(), nodes.leaf_driver->tick();
      const uint64_t before = nodes.host_driver->report().frames_by_channel;
      const bool at_leaf = std::string_view(who) == "leaf", by_lab = std::string_view(who) == "lab";
      std::optional<FileDescriptor> listener;
      if (by_lab) {
        for (auto& alone : nodes.gate.alone) alone.store(1);
        listener = unnoticed_socket(nodes.host_ns, "p0");
      } else {
        listener = listening_socket(at_leaf ? nodes.leaf_ns : nodes.host_ns, at_leaf ? "d0" : "p0");
      }
      REQUIRE(nodes.run(7, 1));
      const DriverReport report = nodes.host_driver->report();
      CHECK(report.frames_by_channel == before);
      const Heard heard = all_heard(*listener);
      CHECK(heard.frames > 50);
      CHECK(heard.bundles == 0);
    }
  }

  TEST_CASE("what somebody takes down carries nothing in memory either") {
    for (const char* port : {"p0", "d0"}) {
      CAPTURE(port);
      TwoNodes nodes(FabricTime::from_us(60));
      nodes.cross_in_memory();
      for (int i = 0; i < 4; ++i) nodes.host_driver->tick(), nodes.leaf_driver->tick();
      const bool own = std::string_view(port) == "p0";
      NamespaceNetlink(own ? nodes.host_ns : nodes.leaf_ns).set_down(port);
      // The kernel reports the carrier that is lost with the far end some milliseconds later.
      const auto deadline = std::chrono::steady_clock::now() + kPatience;
      const auto in_time = [&] { return std::chrono::steady_clock::now() < deadline; };
      const uint32_t ifindex = nodes.host_socket->ifindex_of("p0");
      while (nodes.host_socket->can_carry(ifindex) && in_time())
        nodes.host_socket->update_carriers();
      const uint64_t before = nodes.host_driver->report().frames_by_channel;
      CHECK(before > 0);
      while (nodes.host_driver->report().failed_sends == 0 && in_time()) {
        nodes.host_driver->tick();
        nodes.leaf_driver->tick();
      }
      CHECK(nodes.host_driver->report().failed_sends > 0);
      CHECK(nodes.host_driver->report().frames_by_channel == before);
    }
  }
}
