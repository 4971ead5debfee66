#include "netio/kernel/route.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>
#include <stdexcept>

#include "fabric/packet/headers.h"
#include "test_lab.h"
#include "tests/support/mrc_frames.h"

using namespace mrclab;
using namespace mrclab::netio;
using namespace mrclab::netio::test;

namespace {

sockaddr_in6 endpoint(const std::string& address, uint16_t port) {
  sockaddr_in6 result{};
  result.sin6_family = AF_INET6;
  result.sin6_port = htons(port);
  const Ipv6Address bytes = parse_address(address);
  std::memcpy(&result.sin6_addr, bytes.data(), bytes.size());
  return result;
}

FileDescriptor udp_socket(const NetworkNamespace& ns, const std::string& address, uint16_t port) {
  FileDescriptor socket(check_system_call("open a UDP socket", ns.run_in([] {
    return ::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  })));
  const sockaddr_in6 name = endpoint(address, port);
  check_system_call("bind to " + address,
                    ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name));
  return socket;
}

std::string wait_for_datagram(const FileDescriptor& socket) {
  pollfd watched{socket.get(), POLLIN, 0};
  if (::poll(&watched, 1, 5000) != 1) return "nothing came";
  char text[100];
  const ssize_t n = ::recv(socket.get(), text, sizeof text, 0);
  return n < 0 ? "error" : std::string(text, static_cast<size_t>(n));
}

//  h1 up0 -- dn0 leaf1 up5 -- dn1 spine5 dn3 -- up5 leaf3 dn0 -- up0 h3
//   RFC 9800 uSIDs: leaf1 0100, spine5 0500, leaf3 0300, the kernel of h3 0a03
class UsidChain {
 public:
  UsidChain() {
    for (const char* host : {"h1", "h3"}) lab.add(host, host_sysctls());
    for (const char* name : {"leaf1", "spine5", "leaf3"}) lab.add(name, forwarding_sysctls());
    link("h1", "up0", "leaf1", "dn0", "2001:db8:1::");
    link("leaf1", "up5", "spine5", "dn1", "2001:db8:15::");
    link("spine5", "dn3", "leaf3", "up5", "2001:db8:53::");
    link("leaf3", "dn0", "h3", "up0", "2001:db8:3::");
    switch_routes("leaf1", "5f00:0:100::/48", "dn0", "5f00:0:500::/48", "up5", "2001:db8:15::2");
    switch_routes("spine5", "5f00:0:500::/48", "dn1", "5f00:0:300::/48", "dn3", "2001:db8:53::2");
    switch_routes("leaf3", "5f00:0:300::/48", "up5", "5f00:0:a03::/48", "dn0", "2001:db8:3::2");
    NamespaceNetlink h1(lab.at("h1")), h3(lab.at("h3"));
    RouteBatch at_h1(h1), at_h3(h3);
    at_h1.route({.destination = parse_prefix("5f00::/32"),
                 .dev = "up0",
                 .via = parse_address("2001:db8:1::2")});
    at_h1.route({.destination = parse_prefix("2001:db8:3::/64"),
                 .dev = "up0",
                 .action = EncapRed{parse_address("5f00:0:100:500:300:a03::")},
                 .mtu = 4000});
    at_h1.commit();
    at_h3.route({.destination = parse_prefix("5f00:0:a03::/48"), .dev = "up0", .action = EndDt6{}});
    at_h3.commit();
  }

  TestLab lab;

 private:
  /// Both ends up, ::1 and ::2 of `net`, permanent neighbours, no offloads.
  void link(const std::string& a, const std::string& a_dev, const std::string& b,
            const std::string& b_dev, const std::string& net) {
    lab.link(a, a_dev, b, b_dev);
    const std::string ends[2][2] = {{a, a_dev}, {b, b_dev}};
    for (int i = 0; i < 2; ++i) {
      NamespaceNetlink here(lab.at(ends[i][0])), there(lab.at(ends[1 - i][0]));
      RouteBatch batch(here);
      batch.address(ends[i][1], parse_prefix(net + std::to_string(i + 1) + "/64"));
      batch.neighbour(ends[i][1], parse_address(net + std::to_string(2 - i)),
                      there.link(ends[1 - i][1]).mac);
      batch.commit();
      const std::vector<std::string> names{ends[i][1]};
      disable_offloads(lab.at(ends[i][0]), names);
    }
  }

  void switch_routes(const std::string& node, const std::string& own, const std::string& own_dev,
                     const std::string& next, const std::string& next_dev, const std::string& via) {
    NamespaceNetlink netlink(lab.at(node));
    RouteBatch batch(netlink);
    batch.route({.destination = parse_prefix(own), .dev = own_dev, .action = EndNextCsid{}});
    batch.route({.destination = parse_prefix(next), .dev = next_dev, .via = parse_address(via)});
    batch.commit();
  }
};

}  // namespace

TEST_CASE("prefixes are read and written, and nonsense is refused") {
  CHECK(prefix_text(parse_prefix("5f00:0:100::/48")) == "5f00:0:100::/48");
  CHECK(prefix_text(parse_prefix("::1")) == "::1/128");
  for (const char* bad : {"", "5f00::/129", "5f00::/", "5f00::/4x", "10.0.0.0/8", "5f00::/-1"})
    CHECK_THROWS_AS(parse_prefix(bad), std::invalid_argument);
}

TEST_SUITE("root: routes") {
  TEST_CASE("an ordinary datagram crosses three kernel uSID switches and is decapsulated") {
    UsidChain chain;
    PacketSocket tap(chain.lab.at("h3"));
    const FileDescriptor receiver = udp_socket(chain.lab.at("h3"), "2001:db8:3::2", 9999);
    const FileDescriptor sender = udp_socket(chain.lab.at("h1"), "2001:db8:1::1", 0);
    const sockaddr_in6 to = endpoint("2001:db8:3::2", 9999);
    REQUIRE(::sendto(sender.get(), "hello", 5, 0, reinterpret_cast<const sockaddr*>(&to),
                     sizeof to) == 5);
    CHECK(wait_for_datagram(receiver) == "hello");

    // Among multicast listener reports of the kernels.
    std::optional<Ipv6Header> outer;
    for (int i = 0; i < 10 && !outer; ++i)
      for (const ReceivedFrame& frame : receive(tap, 1)) {
        const auto header = parse_ipv6(std::span(frame.bytes).subspan(kOuterOffset));
        if (header && header->next_header == kNextHeaderIpv6) outer = header;
      }
    REQUIRE(outer);
    CHECK(outer->destination == parse_address("5f00:0:a03::"));  // three uSIDs used up
    CHECK(outer->hop_limit == 61);
    CHECK(tap.statistics().checksum_not_ready == 0);  // offloads are off
    const std::string counters =
        output_of("ip -s -6 -n " + chain.lab.at("spine5").name() + " route show 5f00:0:500::/48");
    CHECK_MESSAGE(counters.find("packets 1") != std::string::npos, counters);
  }

  TEST_CASE("seg6 routes look to `ip -6 route` as if it had written them") {
    UsidChain chain;
    const auto routes = [&chain](const char* node) {
      return output_of("ip -6 -n " + chain.lab.at(node).name() + " route");
    };
    const auto has = [](const std::string& text, const char* line) {
      CHECK_MESSAGE(text.find(line) != std::string::npos, text);
    };
    has(routes("leaf1"),
        "5f00:0:100::/48  encap seg6local action End flavors next-csid lblen 32 nflen 16 dev dn0 "
        "proto static");
    has(routes("leaf1"), "5f00:0:500::/48 via 2001:db8:15::2 dev up5 proto static");
    has(routes("h1"),
        "2001:db8:3::/64  encap seg6 mode encap.red segs 1 [ 5f00:0:100:500:300:a03:: ] dev up0");
    has(routes("h1"), "mtu 4000");
    has(routes("h3"), "5f00:0:a03::/48  encap seg6local action End.DT6 table");
  }

  TEST_CASE("addresses are usable at once, neighbours are permanent, blackholes swallow") {
    TestLab lab;
    lab.add("a", host_sysctls()), lab.add("b", host_sysctls());
    lab.link("a", "p0", "b", "d0");
    NamespaceNetlink netlink(lab.at("a"));
    RouteBatch batch(netlink);
    batch.address("p0", parse_prefix("fd00::1/64"));
    batch.address("p0", parse_prefix("fd00::1/64"));  // again: replaced, no error
    batch.neighbour("p0", parse_address("fd00::2"), {2, 0, 0, 0, 1, 2});
    batch.route({.destination = parse_prefix("5f00::/16"), .dev = "", .end = RouteEnd::kBlackhole});
    batch.commit();
    const std::string in_a = "ip -6 -n " + lab.at("a").name() + " ";
    const std::string addresses = output_of(in_a + "addr show dev p0");
    CHECK(addresses.find("fd00::1/64 scope global nodad") != std::string::npos);
    CHECK(addresses.find("tentative") == std::string::npos);
    CHECK(addresses.find("fe80") == std::string::npos);  // no generated address
    CHECK(output_of(in_a + "neigh").find("fd00::2 dev p0 lladdr 02:00:00:00:01:02 PERMANENT") !=
          std::string::npos);
    CHECK(output_of(in_a + "route").find("blackhole 5f00::/16") != std::string::npos);

    Route blackhole{
        .destination = parse_prefix("5f00::/16"), .dev = "", .end = RouteEnd::kBlackhole};
    batch.remove_route(blackhole);
    batch.remove_route(blackhole);  // gone already: no error
    batch.commit();
    CHECK(output_of(in_a + "route").find("blackhole") == std::string::npos);
  }

  TEST_CASE("a packet to an address is delivered from the moment on that it has been added") {
    TestLab lab;
    lab.add("a", host_sysctls()), lab.add("b", host_sysctls());
    lab.link("a", "p0", "b", "d0");
    NamespaceNetlink at_a(lab.at("a")), at_b(lab.at("b"));
    RouteBatch sending(at_a);
    sending.address("lo", parse_prefix("fd00:1::1/128"));
    sending.neighbour("p0", parse_address("fe80::1"), {2, 0, 0, 0, 1, 2});
    sending.route(
        {.destination = parse_prefix("fd00::/64"), .dev = "p0", .via = parse_address("fe80::1")});
    sending.commit();
    const FileDescriptor sender = udp_socket(lab.at("a"), "fd00:1::1", 0);
    const FileDescriptor receiver = udp_socket(lab.at("b"), "::", 9999);
    for (int i = 1; i <= 20; ++i) {
      const std::string address = "fd00::" + std::to_string(i);
      CAPTURE(address);
      const sockaddr_in6 to = endpoint(address, 9999);
      RouteBatch batch(at_b);
      batch.address("lo", parse_prefix(address + "/128"));
      batch.commit();
      REQUIRE(::sendto(sender.get(), "hello", 5, 0, reinterpret_cast<const sockaddr*>(&to),
                       sizeof to) == 5);
      REQUIRE(wait_for_datagram(receiver) == "hello");
    }
  }

  TEST_CASE("a refused route is named, and the batch's other routes are in") {
    TestLab lab;
    lab.add("a", host_sysctls()), lab.add("b", host_sysctls());
    lab.link("a", "p0", "b", "d0");
    NamespaceNetlink netlink(lab.at("a"));
    RouteBatch batch(netlink);
    batch.address("p0", parse_prefix("fd00::1/64"));
    batch.route({.destination = parse_prefix("fd01::/64"),
                 .dev = "p0",
                 .via = parse_address("fd99::1")});  // there is no route to fd99::1
    // More than fit in flight at once.
    for (int i = 0; i < 500; ++i)
      batch.route(
          {.destination = parse_prefix("fd02:" + std::to_string(i) + "::/32"), .dev = "p0"});
    try {
      batch.commit();
      FAIL("a route without a way was taken");
    } catch (const SystemError& error) {
      CHECK(error.error_number() == EHOSTUNREACH);
      CHECK(error.attempted().find("fd01::/64 via fd99::1 dev p0") != std::string::npos);
      CHECK(error.attempted().find(lab.at("a").name()) != std::string::npos);
    }
    const std::string count =
        output_of("ip -6 -n " + lab.at("a").name() + " route | grep -c ^fd02");
    CHECK(std::stoi(count) == 500);
  }

  TEST_CASE("a hundred thousand encapsulations outrun the kernel's reserve and all get in") {
    TestLab lab;
    const NetworkNamespace& ns = lab.add("many", host_sysctls());
    NamespaceNetlink netlink(ns);
    RouteBatch batch(netlink);
    constexpr uint32_t kRoutes = 100'000;
    for (uint32_t i = 0; i < kRoutes; ++i) {
      Route route;
      route.destination = parse_prefix("fd00::/128");
      route.destination.address[13] = static_cast<uint8_t>(i >> 16);
      route.destination.address[14] = static_cast<uint8_t>(i >> 8);
      route.destination.address[15] = static_cast<uint8_t>(i);
      route.dev = "lo";
      route.action = EncapRed{parse_address("5f00:0:200::")};
      batch.route(route);
    }
    CHECK_NOTHROW(batch.commit());
  }
}
