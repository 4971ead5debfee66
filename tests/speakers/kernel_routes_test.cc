// Routes of our speaker in the kernel: weights by FARE's rule, and packets that follow them.

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "netio/system/file_descriptor.h"
#include "netio/system/system_error.h"
#include "peer_bench.h"

using namespace mrclab;
using namespace mrclab::lab;
using namespace mrclab::lab::test;

namespace {

constexpr uint16_t kPort = 9999, kFirstSource = 20'000;
constexpr unsigned kFlows = 7000;

netio::FileDescriptor udp_in(const netio::NetworkNamespace& where) {
  return netio::FileDescriptor(netio::check_system_call("open a UDP socket", where.run_in([] {
    return ::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  })));
}

void bind_to(const netio::FileDescriptor& socket, const Ipv6Address& host, uint16_t port) {
  sockaddr_in6 name{};
  name.sin6_family = AF_INET6;
  name.sin6_port = htons(port);
  std::memcpy(&name.sin6_addr, host.data(), host.size());
  netio::check_system_call("bind",
                           ::bind(socket.get(), reinterpret_cast<sockaddr*>(&name), sizeof name));
}

void send_flow(const netio::NetworkNamespace& from, const Ipv6Address& source,
               const Ipv6Address& to, uint16_t source_port) {
  const netio::FileDescriptor socket = udp_in(from);
  bind_to(socket, source, source_port);
  sockaddr_in6 name{};
  name.sin6_family = AF_INET6;
  name.sin6_port = htons(kPort);
  std::memcpy(&name.sin6_addr, to.data(), to.size());
  const uint8_t octet = 0;
  netio::check_system_call(
      "send", static_cast<int>(::sendto(socket.get(), &octet, 1, 0,
                                        reinterpret_cast<sockaddr*>(&name), sizeof name)));
}

unsigned drain(const netio::FileDescriptor& socket) {
  unsigned count = 0;
  for (uint8_t octet; ::recv(socket.get(), &octet, 1, MSG_DONTWAIT) >= 0;) ++count;
  return count;
}

/// us in the middle: a source, and spines that announce one destination.
struct Fan : PeerBench {
  explicit Fan(const std::vector<BitRate>& rates) {
    add("source");
    behind = link("us", "source");
    SpeakerPlan plan = PeerBench::plan("us", 65'001, 0x0A000001);
    plan.kernel_routes = true;
    for (size_t i = 0; i < rates.size(); ++i) {
      names.push_back("s" + std::to_string(i));
      add(names[i]);
      const Ends ends = link("us", names[i]);
      const auto as = static_cast<uint32_t>(65'010 + i);
      plan.neighbours.push_back(neighbour(names[i], ends.a, ends.b, as));
      SpeakerPlan spine = PeerBench::plan(names[i], as, static_cast<uint32_t>(0x0A000010 + i));
      spine.neighbours = {neighbour("us", ends.b, ends.a, 65'001)};
      spine.origins = {{target, rates[i]}};
      BgpDaemonSetup setup = daemon_setup(spine);
      setup.speaker.neighbours.front().passive = true;
      spines.push_back(std::make_unique<OurSpeaker>(io, lab.at(names[i]), setup));
    }
    us = &start_ours(daemon_setup(plan));
  }
  /// The weights of the kernel's route, in the order of the spines; empty if it has none.
  std::vector<uint32_t> weights() {
    netio::NamespaceNetlink netlink(lab.at("us"));
    for (const netio::InstalledRoute& route : netio::installed_routes(netlink)) {
      if (route.destination.address != target.address()) continue;
      std::vector<uint32_t> found(names.size(), 0);
      std::vector<netio::RouteWay> ways = route.ways;
      if (ways.empty()) ways.push_back({route.dev});
      for (const netio::RouteWay& way : ways) {
        const auto at = std::find(names.begin(), names.end(), way.dev);
        if (at != names.end()) found[static_cast<size_t>(at - names.begin())] = way.weight;
      }
      return found;
    }
    return {};
  }

  const routing::Prefix target = prefix("2001:db8:77::/64");
  Ends behind;
  std::vector<std::string> names;
  std::vector<std::unique_ptr<OurSpeaker>> spines;
  OurSpeaker* us = nullptr;
};

}  // namespace

TEST_SUITE("root: BGP routes in the kernel") {
  TEST_CASE("75, 75, 100 and 100 Gb/s become 3:3:4:4, and that is how 7,000 flows go") {
    Fan fan({BitRate::from_gbps(75), BitRate::from_gbps(75), BitRate::from_gbps(100),
             BitRate::from_gbps(100)});
    const std::vector<uint32_t> expected{3, 3, 4, 4};
    REQUIRE(fan.wait_for([&] { return fan.weights() == expected; }));
    const Ipv6Address host = address("2001:db8:77::1");
    std::vector<netio::FileDescriptor> sinks;
    for (const std::string& name : fan.names) {
      netio::NamespaceNetlink netlink(fan.lab.at(name));
      netio::RouteBatch batch(netlink);
      batch.address("lo", {host, 128});
      batch.commit();
      sinks.push_back(udp_in(fan.lab.at(name)));
      bind_to(sinks.back(), host, kPort);
    }
    {
      netio::NamespaceNetlink netlink(fan.lab.at("source"));
      netio::RouteBatch batch(netlink);
      netio::Route route;
      route.destination = {fan.target.address(), 64};
      route.dev = "us";
      route.via = fan.behind.a;
      batch.route(route);
      batch.commit();
    }
    std::vector<unsigned> counts(4, 0);
    for (unsigned i = 0; i < kFlows; ++i) {
      send_flow(fan.lab.at("source"), fan.behind.b, host, static_cast<uint16_t>(kFirstSource + i));
      if (i % 50 == 49) {
        for (size_t s = 0; s < 4; ++s) counts[s] += drain(sinks[s]);
      }
    }
    const auto total = [&] { return counts[0] + counts[1] + counts[2] + counts[3]; };
    CHECK(fan.wait_for([&] {
      for (size_t s = 0; s < 4; ++s) counts[s] += drain(sinks[s]);
      return total() >= kFlows;
    }));
    REQUIRE(total() == kFlows);
    // Each flow goes where the hash of its ports leads: binomial. Five standard deviations are exceeded by chance
    // once in 400,000 runs, and equal weights would be seven away.
    for (size_t s = 0; s < 4; ++s) {
      CAPTURE(s);
      const double p = expected[s] / 14.0, mean = kFlows * p;
      const double deviation = std::sqrt(kFlows * p * (1 - p));
      CHECK(std::abs(counts[s] - mean) < 5 * deviation);
      MESSAGE(fan.names[s] << ": " << counts[s] << " of " << kFlows << ", expected " << mean);
    }
  }

  TEST_CASE(
      "a route follows the speakers: another bandwidth, a link without carrier, a farewell, "
      "nothing") {
    Fan fan({BitRate::from_gbps(100), BitRate::from_gbps(50)});
    REQUIRE(fan.wait_for([&] { return fan.weights() == std::vector<uint32_t>{2, 1}; }));
    fan.lab.at("s1").run_in([&] {
      fan.spines[1]->daemon->change([&](routing::Speaker& s, FabricTime now) {
        s.originate(fan.target, now, BitRate::from_gbps(25));
      });
    });
    CHECK(fan.wait_for([&] { return fan.weights() == std::vector<uint32_t>{4, 1}; }));
    netio::NamespaceNetlink(fan.lab.at("s1")).set_down("us");
    CHECK(fan.wait_for([&] { return fan.weights() == std::vector<uint32_t>{1, 0}; }));
    CHECK(fan.us->downs.size() == 1);
    CHECK(fan.us->downs.front() == "carrier lost");
    netio::NamespaceNetlink(fan.lab.at("s1")).set_up("us");
    fan.spines[0].reset();
    CHECK(fan.wait_for([&] { return fan.weights() == std::vector<uint32_t>{0, 1}; }));
    CHECK(fan.us->troubles.empty());
    fan.end_ours();
    CHECK(fan.weights().empty());
  }
}
