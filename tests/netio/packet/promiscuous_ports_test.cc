#include "netio/packet/promiscuous_ports.h"

#include <doctest/doctest.h>

#include "tests/netio/packet/test_listener.h"
#include "tests/netio/test_lab.h"

using namespace mrclab;
using namespace mrclab::netio;
using namespace mrclab::netio::test;

namespace {

constexpr WireId kToA{0}, kToB{1}, kOtherWire{2};

/// a's p0 is linked with b's d0, its p1 with b's d1; both are watched.
struct WatchedLinks {
  WatchedLinks() {
    lab.add("a"), lab.add("b");
    lab.link("a", "p0", "b", "d0");
    lab.link("a", "p1", "b", "d1");
    ports.watch_namespace(NetworkNamespace::open(namespace_name("a")), {{"p0", kToA, kToB}});
    ports.watch_namespace(NetworkNamespace::open(namespace_name("b")), {{"d0", kToB, kToA}});
  }
  std::vector<bool> now() {
    ports.update();
    return {ports.on(kToA), ports.on(kToB), ports.on(kOtherWire)};
  }

  TestLab lab;
  PromiscuousPorts ports{3};
};

using WirePromiscuity = std::vector<bool>;

}  // namespace

TEST_SUITE("root: packets") {
  TEST_CASE("both wires of a port are known as promiscuous from the call that makes it so") {
    WatchedLinks links;
    CHECK(links.now() == WirePromiscuity{false, false, false});
    for (const auto& [ns, interface] : {std::pair{"a", "p0"}, {"b", "d0"}}) {
      {
        const FileDescriptor first = promiscuous_socket(links.lab.at(ns), interface);
        CHECK(links.now() == WirePromiscuity{true, true, false});
        {
          const FileDescriptor second = promiscuous_socket(links.lab.at(ns), interface);
          CHECK(links.now() == WirePromiscuity{true, true, false});
        }
        CHECK(links.now() == WirePromiscuity{true, true, false});
      }
      CHECK(links.now() == WirePromiscuity{false, false, false});
    }
    const FileDescriptor at_a = promiscuous_socket(links.lab.at("a"), "p0");
    { const FileDescriptor at_b = promiscuous_socket(links.lab.at("b"), "d0"); }
    CHECK(links.now() == WirePromiscuity{true, true, false});  // one end is
    const FileDescriptor unknown = promiscuous_socket(links.lab.at("a"), "p1");
    CHECK(links.now() == WirePromiscuity{true, true, false});
  }

  TEST_CASE("where the kernel had no room for its messages the ports are asked for their state") {
    WatchedLinks links;
    const FileDescriptor other = promiscuous_socket(links.lab.at("b"), "d1");
    for (int i = 0; i < 500; ++i) {  // two messages of a kilobyte, for a queue of 208 KiB
      set_promiscuous(other, links.lab.at("b"), "d1", false);
      set_promiscuous(other, links.lab.at("b"), "d1", true);
    }
    const FileDescriptor unreported = promiscuous_socket(links.lab.at("b"), "d0");
    CHECK(links.now() == WirePromiscuity{true, true, false});
  }
}
