#include "netio/packet/packet_port.h"
#include "fabric/packet/frame_room.h"
#include "fabric/packet/headers.h"
#include "fabric/topology/build_topology.h"

#include <doctest/doctest.h>
#include <time.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "fabric/packet/trailer.h"
#include "tests/netio/test_lab.h"
#include "tests/support/fabrics.h"

using namespace mrclab;
using namespace mrclab::netio;
using namespace mrclab::netio::test;

namespace {

/// Two switch namespaces with one link, and a socket in each.
struct Pair {
  Pair(const PacketSocketOptions& b_options = {})
      : lab(make()), a(lab.at("a")), b(lab.at("b"), b_options) {}
  static TestLab make() {
    TestLab lab;
    lab.add("a"), lab.add("b");
    lab.link("a", "p0", "b", "d0");
    return lab;
  }
  uint32_t a_port() const { return a.ifindex_of("p0"); }

  TestLab lab;
  PacketSocket a;
  PacketSocket b;
};

uint64_t monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

/// Sends what is in line: by the socket itself, or by a ring.
std::vector<SendFailure> send_queued(PacketSocket& socket, std::optional<SendRing>& ring) {
  if (!ring) {
    const auto failures = socket.flush();
    return {failures.begin(), failures.end()};
  }
  constexpr uint64_t kFirstTag = uint64_t{5} << 32;
  socket.update_carriers();
  socket.put_queued(*ring, kFirstTag);
  ring->send([&](uint64_t tag, int error_number) { socket.refuse(tag, error_number); });
  const auto failures = socket.finish_sending();
  return {failures.begin(), failures.end()};
}

/// A way to send that a test is to try: without a ring, or, where the kernel has one, with it.
std::vector<bool> ways_to_send() {
  try {
    const SendRing ring;
    return {false, true};
  } catch (const SystemError& error) {
    MESSAGE(error.what());
    return {false};
  }
}
std::optional<SendRing> ring_if(bool wanted) {
  std::optional<SendRing> ring;
  if (wanted) ring.emplace();
  return ring;
}

}  // namespace

TEST_CASE("rings grow with what a fabric can have under way, and are small where it is little") {
  constexpr size_t kSlotBytes = (64 << 10) / 14;  // for a frame of full size
  FabricShape shape = mrclab::test::shape_of("rings", 2, 2, 1, 1);
  CHECK(rings_for(build_topology(shape), NodeId{0}).ring_bytes < 2 << 20);
  shape.host_rate = shape.fabric_rate = BitRate::from_gbps(400);
  shape.pmtu = 512;
  const size_t ring = rings_for(build_topology(shape), NodeId{0}).ring_bytes;
  CHECK(ring / kSlotBytes > 600);  // 2 ports, 2.4 us, 682 bytes: 176 frames each, and as many again
  CHECK(ring < 8 << 20);
}

TEST_CASE("rings for frames without payload have as many places in less memory") {
  FabricShape shape = mrclab::test::shape_of("rings", 2, 2, 1, 1);
  const Topology topology = build_topology(shape);
  const PacketSocketOptions whole = rings_for(topology, NodeId{0});
  const PacketSocketOptions elided = rings_for(topology, NodeId{0}, room_on_wires(topology, true));
  CHECK(whole.frame_bytes == kFrameCapacity + kTrailerReserve);
  CHECK(elided.frame_bytes == 512);
  CHECK(elided.ring_bytes * 4 < whole.ring_bytes);
  CHECK(elided.ring_bytes / (elided.frame_bytes + 256) >= 112);
}

TEST_SUITE("root: packets") {
  TEST_CASE("frames of every size up to a full buffer with trailer arrive byte for byte") {
    Pair pair;
    std::vector<std::vector<uint8_t>> sent;
    for (const size_t size : {60u, 100u, 1514u, 4096u, 4246u, 4400u,
                              static_cast<unsigned>(kFrameCapacity + kTrailerReserve)})
      sent.push_back(make_frame(size, static_cast<uint8_t>(size)));
    for (const auto& frame : sent) pair.a.queue(pair.a_port(), frame);
    CHECK(pair.a.queued() == sent.size());
    CHECK(pair.a.flush().empty());
    CHECK(pair.a.queued() == 0);
    const auto received = receive(pair.b, sent.size());
    REQUIRE(received.size() == sent.size());
    for (size_t i = 0; i < sent.size(); ++i) {
      CHECK(received[i].bytes == sent[i]);
      CHECK(received[i].ifindex == pair.b.ifindex_of("d0"));
    }
    CHECK(pair.a.statistics().sent == sent.size());
    CHECK(pair.b.statistics().received == sent.size());
    CHECK(pair.b.statistics().ring_drops == 0);
    CHECK(pair.b.statistics().truncated == 0);
  }

  TEST_CASE("void frames arrive too, and nobody sees its own frames") {
    Pair pair;
    const auto empty = make_frame(208, 1, kVoidEthertype);
    const auto other = make_frame(100, 2, 0x0800);  // neither IPv6 nor void: not ours
    pair.a.queue(pair.a_port(), other);
    pair.a.queue(pair.a_port(), empty);
    CHECK(pair.a.flush().empty());
    const auto received = receive(pair.b, 1);
    REQUIRE(received.size() == 1);
    CHECK(received[0].bytes == empty);
    const auto nothing = [](uint32_t, std::span<const uint8_t>, uint64_t) {};
    CHECK(pair.b.drain(nothing) == 0);
    CHECK(pair.a.drain(nothing) == 0);
  }

  TEST_CASE("receive timestamps are on the monotonic clock and never go back") {
    Pair pair;
    const uint64_t before = monotonic_ns();
    const auto frame = make_frame(200, 3);
    for (int i = 0; i < 100; ++i) pair.a.queue(pair.a_port(), frame);
    pair.a.flush();
    const auto received = receive(pair.b, 100);
    const uint64_t after = monotonic_ns();
    REQUIRE(received.size() == 100);
    // One drain converts with one offset; between drains it may differ by a clock reading.
    constexpr uint64_t kReadingNs = 1'000'000;
    for (size_t i = 1; i < received.size(); ++i)
      CHECK(received[i].rx_ns + kReadingNs >= received[i - 1].rx_ns);
    CHECK(received.front().rx_ns + kReadingNs >= before);
    CHECK(received.back().rx_ns <= after + kReadingNs);
  }

  TEST_CASE(
      "a socket that is opened before the links finds them later, and forgets what came before") {
    TestLab lab;
    lab.add("a"), lab.add("b");
    PacketSocketOptions early;
    early.interfaces_later = true;
    PacketSocket b(lab.at("b"), early);
    CHECK(b.interfaces().empty());
    lab.link("a", "p0", "b", "d0");
    PacketSocket a(lab.at("a"));
    const auto send = [&](uint8_t seed) {
      for (const uint16_t ethertype : {kEthertypeIpv6, kVoidEthertype}) {
        const auto frame = make_frame(200, seed, ethertype);
        a.queue(a.ifindex_of("p0"), frame);
        CHECK(a.flush().empty());
      }
    };
    const auto waits = [](int fd) {
      pollfd watched{fd, POLLIN, 0};
      return ::poll(&watched, 1, 5000) == 1;
    };
    send(1);
    CHECK(waits(b.fd()));
    CHECK(waits(b.void_fd()));
    b.find_interfaces(lab.at("b"));
    REQUIRE(b.interfaces().size() == 1);
    CHECK(b.name_of(b.ifindex_of("d0")) == "d0");
    send(2);
    const auto received = receive(b, 2);
    REQUIRE(received.size() == 2);
    for (const ReceivedFrame& frame : received) {
      CHECK(frame.ifindex == b.ifindex_of("d0"));
      CHECK(frame.bytes[14] == make_frame(200, 2)[14]);
    }
    NamespaceNetlink(lab.at("a")).set_down("p0");  // the carrier is watched
    CHECK_FALSE(NamespaceNetlink(lab.at("b")).link("d0").carrier);
    b.queue(b.ifindex_of("d0"), received.front().bytes);
    CHECK(b.flush().size() == 1);
  }

  TEST_CASE("a socket that believes the list of links knows from it which are dark") {
    TestLab lab;
    lab.add("a"), lab.add("b");
    PacketSocketOptions early;
    early.interfaces_later = true;
    PacketSocket b(lab.at("b"), early);
    lab.link("a", "p0", "b", "d0");
    lab.link("a", "p1", "b", "d1");
    NamespaceNetlink(lab.at("a")).set_down("p1");
    CHECK_FALSE(NamespaceNetlink(lab.at("b")).link("d1").carrier);
    b.find_interfaces(lab.at("b"), PacketSocket::Carriers::kAskedFor);
    REQUIRE(b.interfaces().size() == 2);
    const auto frame = make_frame(200, 1);
    b.queue(b.ifindex_of("d0"), frame);
    CHECK(b.flush().empty());
    b.queue(b.ifindex_of("d1"), frame);
    CHECK(b.flush().size() == 1);
  }

  TEST_CASE("a frame for a down link is reported, the others go, and it works after up") {
    for (const bool by_ring : ways_to_send()) {
      CAPTURE(by_ring);
      std::optional<SendRing> ring = ring_if(by_ring);
      TestLab lab;
      lab.add("a"), lab.add("b");
      lab.link("a", "p0", "b", "d0");
      lab.link("a", "p1", "b", "d1");
      PacketSocket a(lab.at("a")), b(lab.at("b"));
      NamespaceNetlink netlink_a(lab.at("a")), netlink_b(lab.at("b"));
      const auto frame = make_frame(4400, 4);
      const auto send_three = [&] {
        a.queue(a.ifindex_of("p0"), frame);
        a.queue(a.ifindex_of("p1"), frame);
        a.queue(a.ifindex_of("p0"), frame);
        return send_queued(a, ring);
      };

      netlink_a.set_down("p0");
      auto failures = send_three();
      REQUIRE(failures.size() == 2);
      CHECK(failures[0].index == 0);
      CHECK(failures[1].index == 2);
      CHECK(failures[0].ifindex == a.ifindex_of("p0"));
      CHECK(failures[0].error_number == ENETDOWN);
      CHECK(receive(b, 1).size() == 1);

      netlink_a.set_up("p0");
      netlink_b.set_down("d0");  // the far end
      CHECK_FALSE(
          netlink_a.link("p0").carrier);  // has the kernel notice: the noop qdisc is in place
      failures = send_three();
      REQUIRE(failures.size() == 2);
      CHECK(failures[0].index == 0);
      CHECK(failures[1].index == 2);
      CHECK(failures[1].error_number == ENOLINK);
      CHECK(receive(b, 1).size() == 1);

      const auto huge =
          make_frame(kLinkMtu + 100, 5);  // refused by the kernel, behind one that is not
      a.queue(a.ifindex_of("p0"), frame);
      a.queue(a.ifindex_of("p1"), huge);
      const auto both = send_queued(a, ring);
      REQUIRE(both.size() == 2);
      CHECK(both[0].error_number == ENOLINK);
      CHECK(both[1].index == 1);
      CHECK(both[1].error_number == EMSGSIZE);

      netlink_b.set_up("d0");
      CHECK(netlink_a.link("p0").carrier);
      CHECK(send_three().empty());
      CHECK(receive(b, 3).size() == 3);
      CHECK(a.statistics().sent == 5);
      CHECK(a.statistics().send_failures == 6);
    }
  }

  TEST_CASE("a frame over the MTU or for no interface is reported with its reason") {
    for (const bool by_ring : ways_to_send()) {
      CAPTURE(by_ring);
      std::optional<SendRing> ring = ring_if(by_ring);
      Pair pair;
      const auto huge = make_frame(kLinkMtu + 100, 5);
      const auto fine = make_frame(100, 6);
      pair.a.queue(pair.a_port(), huge);
      pair.a.queue(9999, fine);
      pair.a.queue(pair.a_port(), fine);
      const auto failures = send_queued(pair.a, ring);
      REQUIRE(failures.size() == 2);
      CHECK(failures[0].error_number == EMSGSIZE);
      CHECK(failures[1].error_number == ENXIO);
      CHECK(receive(pair.b, 1).size() == 1);
    }
  }

  TEST_CASE("more frames than one sendmmsg takes all arrive, in order") {
    for (const bool by_ring : ways_to_send()) {
      CAPTURE(by_ring);
      std::optional<SendRing> ring = ring_if(by_ring);
      PacketSocketOptions big;
      big.ring_bytes = 16 << 20;
      Pair pair(big);
      constexpr size_t kCount = 2500;
      std::vector<std::vector<uint8_t>> frames;
      for (size_t i = 0; i < kCount; ++i) {
        frames.push_back(make_frame(100, 7));
        frames.back()[60] = static_cast<uint8_t>(i >> 8);
        frames.back()[61] = static_cast<uint8_t>(i);
      }
      for (const auto& frame : frames) pair.a.queue(pair.a_port(), frame);
      CHECK(send_queued(pair.a, ring).empty());
      const auto received = receive(pair.b, kCount);
      REQUIRE(received.size() == kCount);
      for (size_t i = 0; i < kCount; ++i)
        CHECK(received[i].bytes[60] * 256u + received[i].bytes[61] == i);
    }
  }

  TEST_CASE("one ring sends for many sockets, and tells each of them what was refused") {
    if (ways_to_send().size() == 1) return;
    SendRing ring;
    TestLab lab;
    for (const char* name : {"a", "b", "c", "d"}) lab.add(name);
    lab.link("a", "p0", "b", "d0");
    lab.link("c", "p0", "d", "d0");
    PacketSocket a(lab.at("a")), b(lab.at("b")), c(lab.at("c")), d(lab.at("d"));
    const auto frame = make_frame(4400, 11);
    const auto huge = make_frame(kLinkMtu + 100, 12);
    const auto queue_three = [&](PacketSocket& socket, const std::vector<uint8_t>& middle) {
      socket.queue(socket.ifindex_of("p0"), frame);
      socket.queue(socket.ifindex_of("p0"), middle);
      socket.queue(socket.ifindex_of("p0"), frame);
    };
    queue_three(a, huge);
    queue_three(c, frame);
    c.queue(9999, frame);
    a.put_queued(ring, 0);
    c.put_queued(ring, 100);
    ring.send(
        [&](uint64_t tag, int error_number) { (tag < 100 ? a : c).refuse(tag, error_number); });
    const auto of_a = a.finish_sending();
    REQUIRE(of_a.size() == 1);
    CHECK(of_a[0].index == 1);
    CHECK(of_a[0].error_number == EMSGSIZE);
    const auto of_c = c.finish_sending();
    REQUIRE(of_c.size() == 1);
    CHECK(of_c[0].index == 3);
    CHECK(of_c[0].error_number == ENXIO);
    CHECK(receive(b, 2).size() == 2);
    CHECK(receive(d, 3).size() == 3);
    CHECK(a.statistics().sent == 2);
    CHECK(c.statistics().send_failures == 1);
  }

  TEST_CASE("a full ring counts what it loses and works on") {
    PacketSocketOptions small;
    small.ring_bytes = 64 << 10;
    Pair pair(small);
    const auto frame = make_frame(4400, 8);
    for (int i = 0; i < 100; ++i) pair.a.queue(pair.a_port(), frame);
    CHECK(pair.a.flush().empty());
    const auto received = receive(pair.b, 14);
    CHECK(received.size() == 14);
    CHECK(pair.b.statistics().ring_drops == 86);
    pair.a.queue(pair.a_port(), frame);
    pair.a.flush();
    CHECK(receive(pair.b, 1).size() == 1);
    CHECK(pair.b.statistics().ring_drops == 86);
  }

  TEST_CASE("a frame that is longer than a ring slot is counted and never handed on cut") {
    Pair pair;
    const auto jumbo = make_frame(8000, 9);
    const auto fine = make_frame(100, 10);
    pair.a.queue(pair.a_port(), jumbo);
    pair.a.queue(pair.a_port(), fine);
    CHECK(pair.a.flush().empty());
    const auto received = receive(pair.b, 1);
    REQUIRE(received.size() == 1);
    CHECK(received[0].bytes == fine);
    CHECK(pair.b.statistics().truncated == 1);
  }

  TEST_CASE("drain stops at its limit and goes on where it stopped") {
    Pair pair;
    const auto frame = make_frame(100, 11);
    for (int i = 0; i < 10; ++i) pair.a.queue(pair.a_port(), frame);
    pair.a.flush();
    const auto count = [](uint32_t, std::span<const uint8_t>, uint64_t) {};
    CHECK(pair.b.drain(count, 4) == 4);
    CHECK(pair.b.drain(count, 4) == 4);
    CHECK(pair.b.drain(count, 4) == 2);
  }

  TEST_CASE("what nftables drops at ingress is lost to the ring as well") {
    Pair pair;
    const std::string in_b = "ip netns exec " + pair.lab.at("b").name() + " ";
    const std::string rule = output_of(
        in_b +
        "nft 'add table netdev t; add chain netdev t c { type filter hook ingress device d0 "
        "priority 0; }; add rule netdev t c meta length 200 drop'");
    REQUIRE_MESSAGE(rule.empty(), rule);
    // nftables counts from the IP header.
    const auto lucky = make_frame(200, 12), unlucky = make_frame(214, 13);
    const auto later = make_frame(300, 14);
    for (const auto* frame : {&lucky, &unlucky, &later}) pair.a.queue(pair.a_port(), *frame);
    CHECK(pair.a.flush().empty());
    const auto received = receive(pair.b, 2);
    REQUIRE(received.size() == 2);
    CHECK(received[0].bytes == lucky);
    CHECK(received[1].bytes == later);
  }

  TEST_CASE("interfaces have names and indices, loopback is not among them") {
    Pair pair;
    REQUIRE(pair.a.interfaces().size() == 1);
    CHECK(pair.a.name_of(pair.a_port()) == "p0");
    CHECK(pair.a.name_of(1) == "");
    CHECK_THROWS_AS(pair.a.ifindex_of("lo"), std::out_of_range);
  }
}
