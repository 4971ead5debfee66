// Speakers as wholes: sessions that come and go, what is advertised, what is bounded.

#include <doctest/doctest.h>

#include <algorithm>

#include "fabric/base/random.h"
#include "tests/routing/speaker_net.h"

using namespace mrclab;
using namespace mrclab::routing;
using mrclab::test::SpeakerNet;

namespace {

Prefix prefix_of(uint32_t n) {
  Ipv6Address address = *parse_address("2001:db8:1::");
  store_be(&address[12], n);
  return Prefix::host(address);
}

/// Two speakers and their link.
struct Couple : SpeakerNet {
  explicit Couple(const Adjust& adjust_a = {}, const Adjust& adjust_b = {}) {
    node("a", 65001, adjust_a);
    node("b", 65002, adjust_b);
    wire = link({"a", "b"});
    start();
    run_ms(2'000);
  }
  void tell(uint32_t n) {
    change("a", [&](Speaker& speaker) { speaker.originate(prefix_of(n), now); });
    run_ms(10);
  }
  bool has(uint32_t n) { return hops("b", to_string(prefix_of(n))) != "none"; }
  std::string last(const std::string& node) { return log(node).empty() ? "" : log(node).back(); }
  size_t wire = 0;
};

bool contains(const std::vector<std::string>& log, const std::string& words) {
  return std::any_of(log.begin(), log.end(), [&](const std::string& line) {
    return line.find(words) != std::string::npos;
  });
}

SpeakerNet::Adjust with_timing(const SpeakerTiming& timing) {
  return [&timing](SpeakerParameters& parameters) { parameters.timing = timing; };
}

/// From the change at `a` to the forwarding table of `c`, two hops away.
FabricTime time_over_two_hops(const SpeakerTiming& timing) {
  SpeakerNet net;
  net.node("a", 65001, with_timing(timing));
  net.node("b", 65002, with_timing(timing));
  net.node("c", 65003, with_timing(timing));
  net.link({"a", "b"});
  net.link({"b", "c"});
  net.start();
  net.run_ms(10'000);
  const FabricTime begin = net.now;
  net.change("a", [&](Speaker& speaker) { speaker.originate(prefix_of(1), net.now); });
  while (net.hops("c", to_string(prefix_of(1))) == "none")
    net.run(net.now + FabricTime::from_us(1));
  return net.now - begin;
}

}  // namespace

TEST_CASE("both ends that connect have one session, with whatever delay of the link") {
  for (const int64_t delay_us : {1, 100, 400'000}) {
    SpeakerNet net;
    net.link_delay = FabricTime::from_us(delay_us);
    const auto eager = [](SpeakerParameters& p) {
      p.connect_retry = FabricTime::from_ms(500);
      p.tcp.rto_first = FabricTime::from_ms(1'000);
    };
    net.node("a", 65001, eager);
    net.node("b", 65002, eager);
    net.link({"a", "b"});
    net.start();
    net.run_ms(20'000);
    CAPTURE(delay_us);
    CHECK(net.sessions("a") == 1);
    CHECK(net.sessions("b") == 1);
    net.forget_logs();
    net.run_ms(60'000);
    CHECK(net.log("a").empty());
  }
}

TEST_CASE("connections that both ends open at once collide, and one session stays") {
  SpeakerNet net;
  net.link_delay = FabricTime::from_us(100);
  size_t notifications = 0;
  net.tap = [&](const Octets& packet) {
    const auto tcp = parse_tcp_packet(packet);
    const NextMessage next = next_message(tcp->segment.payload);
    const auto* message = std::get_if<FramedMessage>(&next);
    if (tcp->segment.payload.empty() || message == nullptr ||
        message->type != MessageType::kNotification)
      return;
    CHECK(*decode_notification(message->body) ==
          Notification{ErrorCode::kCease, cease::kCollision, {}});
    ++notifications;
  };
  // The second waits for its first turn: no time at all.
  const auto hasty = [](SpeakerParameters& p) { p.connect_retry = FabricTime::from_ps(4); };
  net.node("a", 65001, hasty);
  net.node("b", 65002, hasty);
  net.link({"a", "b"});
  net.start();
  net.run_ms(1'000);
  CHECK(notifications > 0);
  CHECK(net.sessions("a") == 1);
  CHECK(net.sessions("b") == 1);
  CHECK_FALSE(contains(net.log("a"), "down"));
}

TEST_CASE("a route is told, told anew and withdrawn") {
  Couple net;
  net.tell(1);
  CHECK(net.hops("b", to_string(prefix_of(1))) == "a*1");
  CHECK(net.told_mbps("a", "b", to_string(prefix_of(1))) == 100'000);
  const uint64_t before = net["b"].counters().updates_in;
  net.tell(1);
  CHECK(net["b"].counters().updates_in == before);  // nothing new, nothing sent
  net.set_rate(net.wire, BitRate::from_gbps(50));
  net.run_ms(10);
  CHECK(net["b"].counters().updates_in == before + 1);
  net.change("a", [&](Speaker& speaker) { speaker.retract(prefix_of(1), net.now); });
  net.run_ms(10);
  CHECK_FALSE(net.has(1));
  CHECK(net["b"].table().size() == 0);
  CHECK(net["a"].table().size() == 0);
}

TEST_CASE("a lost carrier, silence and BFD end a session after their times, and routes with it") {
  Couple carrier;
  carrier.tell(1);
  carrier.set_carrier(carrier.wire, false);
  CHECK(contains(carrier.log("b"), "down a: carrier lost"));
  CHECK_FALSE(carrier.has(1));
  carrier.set_carrier(carrier.wire, true);
  carrier.run_ms(2'000);
  CHECK(carrier.has(1));

  Couple silence;
  silence.tell(1);
  const FabricTime cut = silence.now;
  silence.set_silent(silence.wire, true);
  while (silence.has(1)) silence.run_ms(1);
  CHECK(contains(silence.log("b"), "down a: sent hold timer expired (4/0)"));
  CHECK(silence.now - cut <= FabricTime::from_ms(9'001));
  CHECK(silence.now - cut > FabricTime::from_ms(5'000));
  silence.set_silent(silence.wire, false);
  silence.run_ms(10'000);
  CHECK(silence.has(1));

  const auto bfd = [](SpeakerParameters& p) {
    p.neighbours[0].bfd = BfdParameters{FabricTime::from_us(50), 3};
  };
  Couple echo(bfd, bfd);
  echo.tell(1);
  CHECK(echo["a"].neighbour(0).bfd()->up());
  const FabricTime dead = echo.now;
  echo.set_silent(echo.wire, true);
  while (echo.has(1)) echo.run(echo.now + FabricTime::from_us(1));
  CHECK(contains(echo.log("b"), "down a: BFD"));
  CHECK(echo.now - dead <= FabricTime::from_us(152));
  CHECK(echo.now - dead >= FabricTime::from_us(100));
  echo.set_silent(echo.wire, false);
  // BFD sends every 50 us, so every millisecond that is not needed costs forty packets.
  const FabricTime latest = echo.now + FabricTime::from_ms(3'000);
  while (!echo.has(1) && echo.now < latest) echo.run_ms(10);
  CHECK(echo.has(1));
}

TEST_CASE(
    "profiles of time: FRR's queue costs 50 ms a hop, hardware microseconds, the ideal nothing") {
  const FabricTime ideal = time_over_two_hops(kIdealTiming),
                   hardware = time_over_two_hops(kHardwareTiming),
                   frr = time_over_two_hops(kFrrTiming);
  CHECK(ideal <= FabricTime::from_us(3));  // two links of 1 us
  CHECK(hardware >= FabricTime::from_us(30));
  CHECK(hardware <= FabricTime::from_us(60));
  CHECK(frr >= FabricTime::from_ms(150));  // its own, the next one's, the last one's
  CHECK(frr <= FabricTime::from_ms(152));
}

TEST_CASE(
    "writes of the forwarding table take their time one after the other, and only the last state "
    "is written") {
  SpeakerTiming slow = kIdealTiming;
  slow.per_fib_write = FabricTime::from_ms(1);
  Couple net({}, with_timing(slow));
  net.forget_logs();
  const FabricTime begin = net.now;
  net.change("a", [&](Speaker& speaker) {
    for (uint32_t n = 0; n < 10; ++n) speaker.originate(prefix_of(n), net.now);
  });
  net.run(begin + FabricTime::from_us(5'500));
  CHECK(net.log("b").size() == 6);
  net.change("a", [&](Speaker& speaker) {
    for (uint32_t n = 0; n < 10; ++n) speaker.retract(prefix_of(n), net.now);
  });
  net.run_ms(50);
  CHECK(net.log("b").size() == 12);  // the other four were never written
}

TEST_CASE("a host passes nothing on, and an AS path with our number is a loop") {
  SpeakerNet net;
  net.node("l", 65001);
  net.node("h", 65002, [](SpeakerParameters& p) { p.transit = false; });
  net.node("m", 65003);
  net.node("same", 65001);
  net.link({"l", "h"});
  net.link({"m", "h"});
  net.link({"l", "m"});
  net.link({"m", "same"});
  net.start();
  net.run_ms(3'000);
  net.change("l", [&](Speaker& speaker) { speaker.originate(prefix_of(1), net.now); });
  net.run_ms(100);
  CHECK(net.hops("h", to_string(prefix_of(1))) == "l*1");
  CHECK_FALSE(net.was_advertised("h", "m", to_string(prefix_of(1))));
  CHECK_FALSE(net.was_advertised("m", "same", to_string(prefix_of(1))));
  CHECK(net.hops("same", to_string(prefix_of(1))) == "none");
}

TEST_CASE("a filter of prefixes leaves exactly what was asked for, also when it changes") {
  const auto asks = [](SpeakerParameters& p) { p.wanted = {prefix_of(2)}; };
  const auto filters = [](SpeakerParameters& p) { p.neighbours[0].takes_filters = true; };
  Couple net(filters, asks);
  for (uint32_t n = 1; n <= 4; ++n) net.tell(n);
  CHECK(net["b"].table().size() == 1);
  CHECK(net.has(2));
  net.change("b", [&](Speaker& speaker) { speaker.want({prefix_of(3), prefix_of(4)}, net.now); });
  net.run_ms(10);
  CHECK_FALSE(net.has(2));
  CHECK(net.has(3));
  CHECK(net.has(4));
  std::vector<Prefix> many;
  for (uint32_t n = 2; n < 2'002; ++n) many.push_back(prefix_of(n));
  net.change("b", [&](Speaker& speaker) { speaker.want(many, net.now); });
  net.run_ms(10);
  CHECK(net["b"].table().size() == 3);
  net.change("b", [&](Speaker& speaker) { speaker.want({}, net.now); });
  net.run_ms(10);
  CHECK(net["b"].table().size() == 0);
}

TEST_CASE("bounds end the session that breaks them, with an event and the right answer") {
  const auto few = [](SpeakerParameters& p) { p.limits.prefixes_per_peer = 3; };
  Couple per_peer({}, few);
  for (uint32_t n = 0; n < 5; ++n) per_peer.tell(n);
  CHECK(contains(per_peer.log("b"), "bound a: routes of one neighbour"));
  CHECK(contains(per_peer.log("a"), "received cease: maximum number of prefixes reached (6/1)"));
  CHECK(per_peer["b"].table().size() <= 3);

  const auto small = [](SpeakerParameters& p) { p.limits.prefixes = 3; };
  Couple table({}, small);
  for (uint32_t n = 0; n < 5; ++n) table.tell(n);
  CHECK(contains(table.log("b"), "bound a: routes in the table"));
  CHECK(contains(table.log("a"), "received cease: out of resources (6/8)"));

  const auto short_list = [](SpeakerParameters& p) {
    p.limits.filter_entries = 1;
    p.neighbours[0].takes_filters = true;
  };
  const auto asks = [](SpeakerParameters& p) { p.wanted = {prefix_of(2), prefix_of(3)}; };
  Couple filter(short_list, asks);
  CHECK(contains(filter.log("a"), "bound b: filter entries of one neighbour"));
}

TEST_CASE("unreachability from a neighbour that shall not send it is a withdrawal") {
  for (const bool wanted : {true, false}) {
    const auto leaf = [](SpeakerParameters& p) {
      p.aggregates = {*Prefix::parse("2001:db8:1::/64")};
      for (auto& neighbour : p.neighbours) neighbour.unreachability = true;
    };
    const auto host = [&](SpeakerParameters& p) {
      p.transit = false;
      p.install_unreachable = true;
      for (auto& neighbour : p.neighbours) neighbour.unreachability = wanted;
    };
    SpeakerNet net;
    net.node("leaf", 65001, leaf);
    net.node("h", 65002, host);
    net.node("x", 65003, [](SpeakerParameters& p) { p.transit = false; });
    net.link({"h", "leaf", BitRate::from_gbps(100), {}, true});
    const size_t wire = net.link({"x", "leaf", BitRate::from_gbps(100), {}, true});
    net.start();
    net.run_ms(3'000);
    net.change("x", [&](Speaker& speaker) { speaker.originate(prefix_of(1), net.now); });
    net.run_ms(100);
    CHECK(net.hops("h", to_string(prefix_of(1))) == "none");
    net.set_carrier(wire, false);
    net.run_ms(100);
    CHECK(net.hops("h", to_string(prefix_of(1))) == (wanted ? "drop" : "none"));
    net.set_carrier(wire, true);
    net.run_ms(3'000);
    CHECK(net.hops("h", to_string(prefix_of(1))) == "none");
  }
}

TEST_CASE(
    "routes from hosts are tagged, kept and told, and not installed where tags are honoured") {
  SpeakerNet net;
  net.node("h", 65001, [](SpeakerParameters& p) { p.transit = false; });
  net.node("leaf", 65002, [](SpeakerParameters& p) { p.tag_hosts_fib_suppressed = true; });
  net.node("spine", 65003, [](SpeakerParameters& p) { p.honour_fib_suppress = true; });
  net.node("far", 65004);
  net.link({"h", "leaf", BitRate::from_gbps(100), {}, true});
  net.link({"leaf", "spine"});
  net.link({"spine", "far"});
  net.start();
  net.run_ms(3'000);
  net.change("h", [&](Speaker& speaker) { speaker.originate(prefix_of(1), net.now); });
  net.run_ms(100);
  CHECK(net.hops("leaf", to_string(prefix_of(1))) == "h*1");
  CHECK(net.hops("spine", to_string(prefix_of(1))) == "none");
  CHECK(net.hops("far", to_string(prefix_of(1))) == "spine*1");
}

TEST_CASE("the same events give the same packets, bit by bit") {
  const auto history = [] {
    SpeakerNet net;
    uint64_t hash = 0;
    net.tap = [&](const Octets& packet) {
      for (const uint8_t octet : packet) hash = mix64(hash ^ octet);
      hash = mix64(hash ^ static_cast<uint64_t>(net.now.ps()));
    };
    for (uint32_t i = 0; i < 6; ++i) net.node("n" + std::to_string(i), 65001 + i);
    for (uint32_t i = 0; i < 6; ++i) {
      for (uint32_t j = i + 1; j < 6; ++j)
        net.link({"n" + std::to_string(i), "n" + std::to_string(j)});
    }
    net.start();
    net.run_ms(2'000);
    for (uint32_t n = 0; n < 50; ++n) {
      net.change("n" + std::to_string(n % 6),
                 [&](Speaker& speaker) { speaker.originate(prefix_of(n), net.now); });
    }
    net.run_ms(1'000);
    net.set_carrier(3, false);
    net.run_ms(1'000);
    return hash;
  };
  CHECK(history() == history());
}

TEST_CASE("after any cuts and mendings every node has every route again, and no other") {
  SpeakerNet net;
  std::vector<size_t> wires;
  for (uint32_t leaf = 0; leaf < 4; ++leaf) net.node("l" + std::to_string(leaf), 65100 + leaf);
  for (uint32_t spine = 0; spine < 3; ++spine) {
    net.node("s" + std::to_string(spine), 65200);
    for (uint32_t leaf = 0; leaf < 4; ++leaf)
      wires.push_back(net.link({"l" + std::to_string(leaf), "s" + std::to_string(spine)}));
  }
  net.start();
  net.run_ms(2'000);
  for (uint32_t leaf = 0; leaf < 4; ++leaf) {
    net.change("l" + std::to_string(leaf),
               [&](Speaker& speaker) { speaker.originate(prefix_of(leaf), net.now); });
  }
  for (uint64_t turn = 0; turn < 60; ++turn) {
    const uint64_t draw = mix64(turn);
    net.set_carrier(wires[draw % wires.size()], (draw >> 32) % 2 == 0);
    net.set_silent(wires[(draw >> 8) % wires.size()], (draw >> 40) % 3 == 0);
    net.run_ms(static_cast<int64_t>(draw >> 48) % 700);
  }
  for (const size_t wire : wires) {
    net.set_carrier(wire, true);
    net.set_silent(wire, false);
  }
  net.run_ms(30'000);
  for (uint32_t leaf = 0; leaf < 4; ++leaf) {
    for (uint32_t other = 0; other < 4; ++other) {
      const std::string hops = net.hops("l" + std::to_string(leaf), to_string(prefix_of(other)));
      CHECK(hops == (leaf == other ? "none" : "s0*1 s1*1 s2*1"));
    }
    CHECK(net["l" + std::to_string(leaf)].table().size() == 4);
  }
}

TEST_CASE("a prefix that nobody may announce is counted, and becomes no route") {
  Couple couple;
  couple.change("a", [&](Speaker& speaker) {
    for (const char* text : {"::1/128", "fe80::/10", "ff00::/8", "2001:db8:7::/48"}) {
      speaker.originate(*Prefix::parse(text), couple.now);
    }
  });
  couple.run_ms(100);
  CHECK(couple.hops("b", "2001:db8:7::/48") == "a*1");
  for (const char* text : {"::1/128", "fe80::/10", "ff00::/8"}) {
    CAPTURE(text);
    CHECK(couple.hops("b", text) == "none");
  }
  CHECK(couple["b"].counters().unroutable == 3);
  CHECK(couple["b"].table().size() == 1);
  CHECK(couple.sessions("b") == 1);
}
