// What a switch of the kernel's is made of beside its routes: rates, filters, and reading all of it back.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "fabric/packet/headers.h"
#include "netio/kernel/packet_filter.h"
#include "netio/kernel/route.h"
#include "netio/kernel/shaper.h"
#include "netio/system/system_error.h"
#include "test_lab.h"

using namespace mrclab;
using namespace mrclab::netio;
using namespace mrclab::netio::test;

namespace {

/// Two namespaces with a veth between them, one that sends and one that counts.
class Cable {
 public:
  Cable() {
    lab.add("from");
    lab.add("to");
    lab.link("from", "p0", "to", "p0");
  }

  /// Sends frames of this size; returns how many arrive, and what of the last.
  size_t carries(size_t count, size_t size, bool bypass, bool in_one_batch = false) {
    PacketSocketOptions options;
    options.qdisc_bypass = bypass;
    PacketSocket sender(lab.at("from"), options), receiver(lab.at("to"));
    std::vector<uint8_t> frame(size, 0xAA);
    frame[12] = 0x86, frame[13] = 0xDD, frame[14] = 0x60, frame[20] = 41;
    frame[18] = static_cast<uint8_t>((size - 54) >> 8), frame[19] = static_cast<uint8_t>(size - 54);
    const uint32_t index = NamespaceNetlink(lab.at("from")).ifindex("p0");
    // A dropped one is refused, which is no accident here. In a batch it would be retried.
    size_t refused = 0;
    for (size_t i = 0; i < count; ++i) {
      sender.queue(index, frame);
      if (!in_one_batch) refused += sender.flush().size();
    }
    if (in_one_batch) refused = sender.flush().size();
    const std::vector<ReceivedFrame> frames = receive(receiver, count - refused);
    if (!frames.empty()) last = frames.back().bytes;
    return frames.size();
  }

  TestLab lab;
  std::vector<uint8_t> last;
};

const InstalledQdisc* qdisc_of(const std::vector<InstalledQdisc>& qdiscs, const std::string& dev) {
  const auto found = std::find_if(qdiscs.begin(), qdiscs.end(),
                                  [&](const auto& qdisc) { return qdisc.device == dev; });
  return found == qdiscs.end() ? nullptr : &*found;
}

}  // namespace

TEST_SUITE("root: kernel switches") {
  TEST_CASE("a shaper is put on, changed in place, and read back") {
    Cable cable;
    NamespaceNetlink netlink(cable.lab.at("from"));
    for (const Shaper wanted : {Shaper{2'500'000, 4400, 60'000}, Shaper{250'000, 4400, 20'000}}) {
      queue_shaper(netlink, "p0", wanted);
      netlink.flush();
      const auto qdiscs = installed_qdiscs(netlink);
      const InstalledQdisc* qdisc = qdisc_of(qdiscs, "p0");
      REQUIRE(qdisc != nullptr);
      CHECK(qdisc->kind == "tbf");
      REQUIRE(qdisc->shaper);
      CHECK(qdisc->shaper->bytes_per_second == wanted.bytes_per_second);
      CHECK(qdisc->shaper->queue == wanted.queue);
      CHECK(qdisc->shaper->burst + 100 >= wanted.burst);
      CHECK(qdisc->shaper->burst <= wanted.burst + 100);
    }
    CHECK_THROWS_AS((queue_shaper(netlink, "p7", {1000, 4400, 5000}), netlink.flush()),
                    SystemError);
  }

  TEST_CASE("a shaper lets its bucket and its queue through, and no more than both together") {
    Cable cable;
    NamespaceNetlink netlink(cable.lab.at("from"));
    // A thousand seconds a byte: nothing comes out of the queue while this test lives.
    queue_shaper(netlink, "p0", {1, 4400, 3000});
    netlink.flush();
    CHECK(cable.carries(10, 1000, false) <= 4);
    CHECK(cable.carries(1, 1000, true) == 1);  // who goes past the queue is not shaped
  }

  TEST_CASE("rules at an interface take what they say, also from who goes past the queue") {
    Cable cable;
    PacketFilter filter(cable.lab.at("from"));
    CHECK(filter.rules().empty());
    filter.prepare({"p0"});  // changes nothing
    CHECK(filter.rules().empty());
    CHECK(cable.carries(9, 300, true) == 9);

    filter.set("p0", {"numgen inc mod 3 2 drop"});
    CHECK(cable.carries(9, 300, true) == 6);
    CHECK(cable.carries(9, 300, false) == 6);
    CHECK(filter.rules()["p0"] == std::vector<std::string>{"numgen inc mod 3 2 drop"});

    // A sender of batches gets no error, and retries nothing.
    filter.set("p0", {"numgen inc mod 3 2 fwd to \"lo\""});
    CHECK(cable.carries(9, 300, false, true) == 6);

    filter.set("p0", {"meta length 0-299 drop", "@th,400,8 set 0x55"});
    CHECK(cable.carries(3, 200, true) == 0);
    CHECK(cable.carries(3, 300, true) == 3);
    REQUIRE(cable.last.size() == 300);
    constexpr size_t kByte = 14 + 40 + 50;  // behind Ethernet and the outer IPv6 header
    CHECK(cable.last[kByte] == 0x55);
    CHECK(cable.last[kByte - 1] == 0xAA);
    CHECK(cable.last[kByte + 1] == 0xAA);

    filter.set("p0", {});
    CHECK(filter.rules().empty());
    CHECK(cable.carries(9, 300, true) == 9);
  }

  TEST_CASE("a refused rule says why and changes nothing, and rules of others are seen") {
    Cable cable;
    PacketFilter filter(cable.lab.at("from"));
    filter.set("p0", {"drop"});
    CHECK_THROWS_WITH_AS(filter.set("p0", {"dorp"}), doctest::Contains("syntax error"),
                         SystemError);
    CHECK(filter.rules()["p0"] == std::vector<std::string>{"drop"});
    filter.set("p0", {});
    PacketFilter other(cable.lab.at("from"));
    other.set("p0", {"counter accept"});
    CHECK(filter.rules()["p0"] == std::vector<std::string>{"counter accept"});
    CHECK(filter.rules().size() == 1);
  }

  TEST_CASE("routes are read back as they were set, with what they counted") {
    TestLab lab;
    lab.add("switch", forwarding_sysctls());
    lab.add("host", host_sysctls());
    lab.link("switch", "d0", "host", "p0");
    NamespaceNetlink netlink(lab.at("switch"));
    RouteBatch batch(netlink);
    const Ipv6Address next = parse_address("fe80::1");
    batch.neighbour("d0", next, {2, 0, 0, 0, 1, 2});
    batch.route({.destination = parse_prefix("5f00::/32"), .dev = "", .end = RouteEnd::kBlackhole});
    batch.route(
        {.destination = parse_prefix("5f00:0:100::/48"), .dev = "d0", .action = EndNextCsid{}});
    batch.route({.destination = parse_prefix("5f00:0:f001::/48"),
                 .dev = "d0",
                 .action = EndXNextCsid{.next_hop = next}});
    batch.route({.destination = parse_prefix("5f00:0:200::/48"), .dev = "d0", .via = next});
    batch.commit();

    const auto routes = installed_routes(netlink);
    REQUIRE(routes.size() == 4);
    const auto route = [&](const char* prefix) {
      const auto found = std::find_if(routes.begin(), routes.end(), [&](const InstalledRoute& r) {
        return prefix_text(r.destination) == prefix;
      });
      REQUIRE(found != routes.end());
      return *found;
    };
    CHECK(route("5f00::/32").blackhole);
    CHECK(route("5f00:0:100::/48").action == "End");
    REQUIRE(route("5f00:0:100::/48").counters);
    CHECK(route("5f00:0:100::/48").counters->packets == 0);
    CHECK(route("5f00:0:f001::/48").action == "End.X");
    CHECK(route("5f00:0:f001::/48").via == next);
    CHECK(route("5f00:0:200::/48").via == next);
    CHECK(route("5f00:0:200::/48").dev == "d0");
    CHECK_FALSE(route("5f00:0:200::/48").counters);

    const auto neighbours = installed_neighbours(netlink);
    REQUIRE(neighbours.size() == 1);
    CHECK(neighbours[0].dev == "d0");
    CHECK(neighbours[0].address == next);
    CHECK(neighbours[0].mac == MacAddress{2, 0, 0, 0, 1, 2});
  }
}
