#include "netio/kernel/link.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "test_lab.h"

using namespace mrclab;
using namespace mrclab::netio;
using namespace mrclab::netio::test;

namespace {

/// Link messages until one fits, or nothing more comes for two seconds.
template <class Predicate>
bool wait_for_event(LinkWatch& watch, Predicate&& fits) {
  for (int i = 0; i < 100; ++i) {
    for (const LinkState& link : watch.read())
      if (fits(link)) return true;
    pollfd watched{watch.fd(), POLLIN, 0};
    if (::poll(&watched, 1, 2000) == 0) return false;
  }
  return false;
}

}  // namespace

TEST_SUITE("root: links") {
  TEST_CASE("both ends of a veth are born in their namespaces, never in the root namespace") {
    TestLab lab;
    lab.add("a"), lab.add("b");
    LinkWatch root(NetworkNamespace::current());
    NamespaceNetlink own(NetworkNamespace::current());
    const size_t before = own.links().size();
    lab.link("a", "p0", "b", "d0");
    CHECK(root.read().empty());
    CHECK(own.links().size() == before);
    CHECK(NamespaceNetlink(lab.at("a")).link("p0").name == "p0");
    CHECK(NamespaceNetlink(lab.at("b")).link("d0").name == "d0");
  }

  TEST_CASE("a link has the MAC, MTU, single queue and full name that were asked for") {
    TestLab lab;
    lab.add("a"), lab.add("b");
    const VethPair pair{{&lab.at("a"), "p0", {2, 1, 2, 3, 4, 5}, "h0:p0"},
                        {&lab.at("b"), "d0", {2, 1, 2, 3, 4, 6}, "p0.t0-0:d0"},
                        8000};
    create_veths({&pair, 1});
    const LinkState state = NamespaceNetlink(lab.at("b")).link("d0");
    CHECK(state.mac == MacAddress{2, 1, 2, 3, 4, 6});
    CHECK(state.mtu == 8000);
    CHECK_FALSE(state.admin_up);
    const std::string text =
        output_of("ip -d -n " + lab.at("b").name() + " link show dev p0.t0-0:d0");
    CHECK(text.find("d0@") != std::string::npos);
    CHECK(text.find("numtxqueues 1 ") != std::string::npos);
    CHECK(text.find("numrxqueues 1 ") != std::string::npos);
  }

  TEST_CASE("carrier needs both ends up, and state queries see a peer's change at once") {
    TestLab lab;
    lab.add("a"), lab.add("b");
    lab.link("a", "p0", "b", "d0");
    NamespaceNetlink a(lab.at("a")), b(lab.at("b"));
    CHECK(a.link("p0").admin_up);
    CHECK(a.link("p0").carrier);
    b.set_down("d0");
    CHECK(a.link("p0").admin_up);
    CHECK_FALSE(a.link("p0").carrier);
    CHECK_FALSE(b.link("d0").admin_up);
    b.set_up("d0");
    CHECK(a.link("p0").carrier);
  }

  TEST_CASE("the watch reports a link that goes down and comes up") {
    TestLab lab;
    lab.add("a"), lab.add("b");
    lab.link("a", "p0", "b", "d0");
    LinkWatch watch(lab.at("a"));
    NamespaceNetlink netlink(lab.at("a"));
    watch.read();
    netlink.set_down("p0");
    CHECK(wait_for_event(
        watch, [](const LinkState& link) { return link.name == "p0" && !link.admin_up; }));
    netlink.set_up("p0");
    CHECK(wait_for_event(watch, [](const LinkState& link) {
      return link.name == "p0" && link.admin_up && link.carrier;
    }));
  }

  TEST_CASE("an error names the link or interface, and what else was asked for is done") {
    TestLab lab;
    lab.add("a"), lab.add("b");
    lab.link("a", "p0", "b", "d0");
    const VethPair pairs[] = {{{&lab.at("a"), "p0", {2, 0, 0, 0, 7, 1}, ""},
                               {&lab.at("b"), "d1", {2, 0, 0, 0, 7, 2}, ""}},
                              {{&lab.at("a"), "p2", {2, 0, 0, 0, 8, 1}, ""},
                               {&lab.at("b"), "d2", {2, 0, 0, 0, 8, 2}, ""}}};
    try {
      create_veths(pairs);
      FAIL("p0 was created twice");
    } catch (const SystemError& error) {
      CHECK(error.error_number() == EEXIST);
      CHECK(error.attempted().find("-a:p0 -- ") != std::string::npos);
    }
    CHECK(NamespaceNetlink(lab.at("a")).links().size() == 3);

    NamespaceNetlink netlink(lab.at("a"));
    try {
      netlink.set_up("p7");
      FAIL("p7 does not exist");
    } catch (const SystemError& error) {
      CHECK(error.error_number() == ENODEV);
      CHECK(error.attempted().find("p7") != std::string::npos);
    }
    netlink.set_up("p2");
    CHECK(netlink.link("p2").admin_up);
    CHECK_THROWS_AS(netlink.link("p7"), SystemError);
    CHECK_THROWS_AS(netlink.ifindex("p7"), SystemError);
    const VethPair long_name{{&lab.at("a"), "sixteen-letters-", {}, ""},
                             {&lab.at("b"), "x", {}, ""}};
    CHECK_THROWS_AS(create_veths({&long_name, 1}), SystemError);
  }

  TEST_CASE("offloads that eat frames are off afterwards") {
    TestLab lab;
    lab.add("a"), lab.add("b");
    lab.link("a", "p0", "b", "d0");
    const auto feature = [&](const char* name) {
      const std::string text = lab.at("a").run_in([] { return output_of("ethtool -k p0"); });
      const size_t at = text.find(std::string("\n") + name + ":");
      return at == std::string::npos ? text : text.substr(at + 1, text.find('\n', at + 1) - at - 1);
    };
    const std::vector<std::string> names{"p0"};
    if (output_of("command -v ethtool").empty()) {
      disable_offloads(lab.at("a"), names);  // route_test shows the effect on real packets
      return;
    }
    CHECK(feature("tx-checksumming") == "tx-checksumming: on");
    disable_offloads(lab.at("a"), names);
    CHECK(feature("tx-checksumming") == "tx-checksumming: off");
    CHECK(feature("tcp-segmentation-offload") == "tcp-segmentation-offload: off");
    CHECK(feature("generic-segmentation-offload").find(": off") != std::string::npos);
    CHECK(feature("generic-receive-offload") == "generic-receive-offload: off");
  }
}
