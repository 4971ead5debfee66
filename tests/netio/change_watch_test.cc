// What the kernel reports of changes in a namespace: who asked for them decides whether they are reported.

#include "netio/kernel/change_watch.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "netio/kernel/route.h"
#include "netio/kernel/sysctl_watch.h"
#include "test_lab.h"

using namespace mrclab;
using namespace mrclab::netio;
using namespace mrclab::netio::test;

namespace {

using Kind = KernelChange::Kind;

struct Watched {
  TestLab lab;
  NamespaceNetlink own;
  ChangeWatch watch;

  Watched()
      : own(made(lab)), watch(lab.at("a"), std::vector<uint32_t>{own.socket().port()}, true) {}

  static NetworkNamespace& made(TestLab& lab) {
    lab.add("a", forwarding_sysctls()), lab.add("b");
    lab.link("a", "p0", "b", "p0");
    return lab.at("a");
  }
  /// A command of the shell in the namespace; what it prints is an error.
  void run(const std::string& command) const {
    CHECK(output_of("ip netns exec " + lab_name() + " " + command) == "");
  }
  std::string lab_name() const { return namespace_name("a"); }
};

std::vector<KernelChange> only(std::vector<KernelChange> changes, Kind kind) {
  std::erase_if(changes, [kind](const KernelChange& change) { return change.kind != kind; });
  return changes;
}

Route blackhole(uint8_t number) {
  Route route;
  route.destination.address[0] = 0xfd;
  route.destination.address[15] = number;
  route.end = RouteEnd::kBlackhole;
  return route;
}

}  // namespace

TEST_SUITE("root: changes by others") {
  TEST_CASE("each kind of change by another program is reported with what it is about") {
    struct Row {
      const char* command;
      Kind kind;
      bool removed;
      const char* what;
    };
    Watched watched;
    for (const Row& row : {
             Row{"ip -6 route add fd00::/64 dev p0", Kind::kRoute, false, "fd00::/64"},
             Row{"ip -6 route del fd00::/64 dev p0", Kind::kRoute, true, "fd00::/64"},
             Row{"ip -6 rule add pref 77 table 7", Kind::kRule, false, "77: table 7"},
             Row{"ip -6 rule del pref 77", Kind::kRule, true, "77: table 7"},
             Row{"ip neigh add fd00::1 lladdr 02:00:00:00:00:09 dev p0", Kind::kNeighbour, false,
                 "fd00::1"},
             Row{"ip neigh del fd00::1 dev p0", Kind::kNeighbour, true, "fd00::1"},
             Row{"tc qdisc add dev p0 root tbf rate 1mbit burst 9kb latency 9ms", Kind::kQdisc,
                 false, "tbf"},
             Row{"tc qdisc del dev p0 root", Kind::kQdisc, true, "tbf"},
             Row{"tc qdisc add dev p0 clsact", Kind::kQdisc, false, "clsact"},
             Row{"tc filter add dev p0 ingress protocol all u32 match u32 0 0", Kind::kQdiscFilter,
                 false, "u32"},
             Row{"tc filter del dev p0 ingress", Kind::kQdiscFilter, true, "u32"},
             Row{"ip address add fd00::5/64 dev p0", Kind::kAddress, false, ""},
             Row{"ip address add 10.9.9.9/24 dev p0", Kind::kAddress, false, ""},
             Row{"ip link set p0 mtu 2000", Kind::kLink, false, ""},
             Row{"nft add table inet theirs", Kind::kPacketFilter, false, "nft"},
         }) {
      CAPTURE(std::string(row.command));
      watched.watch.read();
      watched.run(row.command);
      const std::vector<KernelChange> changes = only(watched.watch.read(), row.kind);
      REQUIRE(!changes.empty());
      const bool found = std::any_of(changes.begin(), changes.end(), [&](const auto& change) {
        return change.removed == row.removed && change.what == row.what;
      });
      CHECK(found);
    }
    CHECK_FALSE(watched.watch.take_overrun());
  }

  TEST_CASE("changes of the caller's own socket are not reported, however many, and lose none") {
    Watched watched;
    watched.watch.read();
    RouteBatch batch(watched.own);
    for (int round = 0; round < 40; ++round) {
      for (uint8_t number = 1; number < 200; ++number) batch.route(blackhole(number));
      batch.flush();
    }
    CHECK(only(watched.watch.read(), Kind::kRoute).empty());
    CHECK_FALSE(watched.watch.take_overrun());
    watched.run("ip -6 route add fd00::/64 dev p0");
    CHECK(only(watched.watch.read(), Kind::kRoute).size() == 1);
  }

  TEST_CASE("when others change more than the kernel has room to report, that is known") {
    Watched watched;
    NamespaceNetlink theirs(watched.lab.at("a"));
    RouteBatch batch(theirs);
    for (int round = 0; round < 40; ++round) {
      for (uint8_t number = 1; number < 200; ++number) batch.route(blackhole(number));
      batch.flush();
    }
    size_t read = 0;
    for (size_t more = 1; more > 0; read += more) more = watched.watch.read().size();
    CHECK(read > 0);
    CHECK(watched.watch.take_overrun());
    CHECK_FALSE(watched.watch.take_overrun());
  }

  TEST_CASE("a write to a sysctl is reported, of any device, and what it is by now") {
    TestLab lab;
    lab.add("a", forwarding_sysctls()), lab.add("b");
    lab.link("a", "p0", "b", "p0");
    SysctlWatch watch;
    watch.watch_namespace(lab.at("a"), forwarding_sysctls());
    CHECK(watch.take_changes().empty());
    const std::string inside = "ip netns exec " + namespace_name("a") + " sysctl -qw ";
    for (const auto& row : std::initializer_list<std::pair<std::string, std::string>>{
             {"net.ipv6.conf.all.forwarding", "0"},
             {"net.ipv6.conf.p0.seg6_enabled", "1"},
             {"net.ipv6.conf.p0.hop_limit", "7"},
             {"net.ipv6.fib_multipath_hash_policy", "0"}}) {
      const std::string &name = row.first, &value = row.second;
      CAPTURE(name);
      // The kernel forgets folders that nobody holds when memory is short.
      CHECK(output_of("echo 2 > /proc/sys/vm/drop_caches") == "");
      CHECK(output_of(inside + name + "=" + value) == "");
      const std::vector<SysctlChange> changes = watch.take_changes();
      REQUIRE(changes.size() == 1);
      CHECK(changes[0].name == name);
      CHECK(changes[0].value == value);
      watch.compare(0);
      CHECK(watch.take_changes().empty());
    }
  }

  TEST_CASE("a write through another procfs is found when the values are compared") {
    TestLab lab;
    lab.add("a", forwarding_sysctls());
    SysctlWatch watch;
    watch.watch_namespace(lab.at("a"), forwarding_sysctls());
    CHECK(output_of("ip netns exec " + namespace_name("a") +
                    " unshare -p -f --mount-proc sysctl -qw net.ipv6.conf.all.forwarding=0") == "");
    watch.compare(0);
    const std::vector<SysctlChange> changes = watch.take_changes();
    CHECK(std::any_of(changes.begin(), changes.end(), [](const SysctlChange& change) {
      return change.name == "net.ipv6.conf.all.forwarding" && change.value == "0";
    }));
  }

  TEST_CASE("what was written before the watch began differs from what was expected") {
    TestLab lab;
    lab.add("a", host_sysctls());
    SysctlWatch watch;
    watch.watch_namespace(lab.at("a"), forwarding_sysctls());
    CHECK(!watch.take_changes().empty());
  }
}
