// Ports and NICs of whole hosts that fail.
//
//   octet: 8 planes x (2 T0 + 4 T1), h0-h3 on one T0 of each plane, h4-h7 on the other
//   pair:  h0, h1 --2 planes-- one T0 each
//   dual_homed: h0 on leaf1 and leaf2, h1 on leaf3 and leaf4, two spines; any port leads to any

#include <doctest/doctest.h>

#include <set>

#include "endpoint/host/host_node.h"
#include "endpoint/options/profile_maker.h"
#include "fabric/topology/build_topology.h"
#include "fabric/topology/fabric_file.h"
#include "tests/endpoint/host/host_runs.h"
#include "tests/support/fabrics.h"
#include "tests/support/nightly.h"
#include "tests/support/times.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::check_clean;
using mrclab::test::endless;
using mrclab::test::first_event;
using mrclab::test::pair;
using mrclab::test::received;
using mrclab::test::side_by_side;
using mrclab::test::SimFabric;
using mrclab::test::us;

namespace {

Topology dual_homed() {
  return build_topology(parse_fabric(read_yaml_text(
      "name: dual\nswitches: {leaf1: 0100, leaf2: 0200, leaf3: 0300, leaf4: 0400, spine5: 0500, "
      "spine6: 0600}\nhosts: [[leaf1, leaf2], [leaf3, leaf4]]\nlinks: {leaf*: [spine5, spine6]}\n",
      "dual.yaml")));
}

}  // namespace

TEST_CASE("with k of 8 NIC ports down, at either end, goodput is (8 - k) / 8 within 3 %" *
          doctest::test_suite(test::kWholeRun)) {
  const auto goodput = [](const std::string& host, uint32_t down) {
    SimFabric fabric(test::octet(), side_by_side({endless(0, 4)}));
    for (uint32_t p = 0; p < down; ++p) {
      fabric.set_link(us(50), fabric.link_of(host + ":p" + std::to_string(p)), false);
    }
    const uint64_t bytes = received(fabric, 4, us(200), us(320));
    check_clean(fabric);
    return static_cast<double>(bytes);
  };
  const double whole = goodput("h0", 0);
  CHECK(whole * 8e-3 / 120 > 730);  // Gb/s, of 768 that the headers leave
  for (const char* host : {"h0", "h4"}) {
    for (uint32_t k = 1; k < 8; ++k) {
      CAPTURE(host);
      CAPTURE(k);
      const double share = goodput(host, k) / whole;
      MESSAGE(host << " " << k << " ports down: " << share);
      CHECK(share > (8 - k) / 8.0 * 0.97);
      CHECK(share < (8 - k) / 8.0 * 1.03);
    }
  }
}

TEST_CASE(
    "the port of a dual-homed peer that dies takes the paths that lead there, and no others") {
  std::vector<WorkloadSpec> workloads{endless(0, 1)};
  SUBCASE("h1 sends, too") { workloads.push_back(endless(1, 0)); }
  SUBCASE("h1 only answers, and probes its way back") {}
  SimFabric::Options options;
  options.workloads = workloads;
  SimFabric fabric(dual_homed(), options);
  const Topology& t = fabric.topology;
  uint64_t to_dead_port = 0;  // at the switch in front of it
  fabric.observers[t.find_node("leaf3")->value].on_packet = [&](const PacketRecord& r) {
    if (r.direction == Direction::kIngress && r.event == PacketEvent::kPassed) ++to_dead_port;
  };
  const auto sent = [&](uint32_t port) { return fabric.stats(0).planes[port].tx_packets; };
  const auto gbps = [](uint64_t bytes, FabricTime span) {
    return static_cast<double>(bytes) * 8e-3 / span.us();
  };
  const double line = static_cast<double>(t.host_rate.bps) * 1e-9;
  fabric.set_link(us(100), fabric.link_of("h1:p0"), false);
  fabric.run_until(us(100));
  CHECK(to_dead_port > 100);
  fabric.run_until(us(140));
  const test::RecordingObserver& h0 = fabric.observer(0);
  CHECK(first_event(h0, "port_status_received", "") < us(100) + t.base_rtt * 2);
  // What was under way has arrived; from now on nothing goes there, no probe either.
  const uint64_t before = to_dead_port, packets[] = {sent(0), sent(1)};
  const uint64_t bytes = received(fabric, 1, us(140), us(300));
  CHECK(to_dead_port == before);
  // Both ports of h0 share what the one of h1 takes.
  CHECK(gbps(bytes, us(160)) > 0.93 * line / 2);
  const uint64_t by_port[] = {sent(0) - packets[0], sent(1) - packets[1]};
  CHECK(by_port[0] > 200);
  CHECK(by_port[1] > 200);
  // What was lost is no path's fault. Each value that leads there is reported by itself: its plane goes on.
  CHECK(h0.count("ev_state", "assumed_bad") == 0);
  std::set<std::optional<EntropyValue>> down, up;
  for (const auto& event : h0.events) {
    if (event.kind == "ev_state" && event.cause == "port_down") down.insert(event.ev);
  }
  CHECK(down.size() == 4);
  CHECK(!down.contains(std::nullopt));
  for (const uint32_t host : {0u, 1u}) {
    CHECK(fabric.stats(host).refused_for(Refusal::kUnknownEv) == 0);
  }
  fabric.set_link(us(301), fabric.link_of("h1:p0"), true);
  CHECK(gbps(received(fabric, 1, us(340), us(500)), us(160)) > 0.93 * line);
  CHECK(to_dead_port > before + 200);
  for (const auto& event : h0.events) {
    if (event.kind == "ev_state" && event.cause == "port_up") up.insert(event.ev);
  }
  CHECK(up == down);
  check_clean(fabric);
}

TEST_CASE("two ports at either end that are told at the same time, each to the other's dead one") {
  // Both ends live on port 0 and have it from each other; then both change to port 1 in one instant.
  SimFabric fabric(dual_homed(), side_by_side({endless(0, 1), endless(1, 0)}));
  for (const char* host : {"h0", "h1"}) {
    fabric.set_link(us(50), fabric.link_of(std::string(host) + ":p1"), false);
    fabric.set_link(us(100), fabric.link_of(std::string(host) + ":p1"), true);
    fabric.set_link(us(100), fabric.link_of(std::string(host) + ":p0"), false);
  }
  fabric.run_until(us(100));
  CHECK(first_event(fabric.observer(0), "port_status_received", "") < us(100));
  const FabricTime later = us(100) + make_profile("lab", fabric.topology).port_status_interval * 3;
  CHECK(received(fabric, 1, later, later + us(100)) > 0);
  check_clean(fabric);
}

TEST_CASE("with the mask in SACKs a peer that no Port Status Update reaches still learns it") {
  for (const bool in_sacks : {false, true}) {
    auto o = side_by_side({endless(0, 1)});
    o.profile = make_profile("lab", pair());
    o.profile->sack_port_mask = in_sacks;
    o.profile->port_status_interval = us(2000);  // the first copy is lost, the next comes late
    SimFabric fabric(pair(), o);
    const WireId other = fabric.topology.port({NodeId{1}, PortId{1}}).out;
    fabric.apply(us(199), WireState{other, false});
    fabric.apply(us(215), WireState{other, true});
    fabric.set_link(us(200), fabric.link_of("h1:p0"), false);
    fabric.set_link(us(400), fabric.link_of("h1:p0"), true);
    fabric.run_until(us(390));
    CHECK(fabric.observer(0).count("port_status_received", "sack") == (in_sacks ? 1 : 0));
    CHECK(fabric.observer(0).count("ev_state", "port_down") == (in_sacks ? 1 : 0));
    fabric.run_until(us(600));
    CHECK(fabric.observer(0).count("ev_state", "port_up") == (in_sacks ? 1 : 0));
    check_clean(fabric);
  }
}

TEST_CASE("ports of both ends that flap against each other end with every plane in use") {
  for (const bool in_sacks : {false, true}) {
    auto o = side_by_side({endless(0, 4), endless(4, 0)});
    o.profile = make_profile("lab", test::octet());
    o.profile->sack_port_mask = in_sacks;
    SimFabric fabric(test::octet(), o);
    for (int i = 0; i < 12; ++i) {
      const std::string plane = ":p" + std::to_string(i % 3);
      fabric.set_link(us(100 + 7 * i), fabric.link_of("h0" + plane), false);
      fabric.set_link(us(110 + 7 * i), fabric.link_of("h0" + plane), true);
      fabric.set_link(us(103 + 5 * i), fabric.link_of("h4" + plane), false);
      fabric.set_link(us(109 + 5 * i), fabric.link_of("h4" + plane), true);
    }
    fabric.run_until(us(900));
    CHECK(fabric.stats(0).evs_bad == 0);
    CHECK(fabric.stats(4).evs_bad == 0);
    check_clean(fabric);
  }
}

TEST_CASE("a cx8 NIC sends nothing for just as long as its profile says, at failure and recovery") {
  Topology slow = pair();
  slow.nic = cx8_profile(8000);  // 0.2 to 1.6 s are 25 to 200 us, 0.2 to 0.5 s 25 to 62.5 us
  slow.nic.remap_down.min = slow.nic.remap_down.max;  // the longest gap that was seen
  slow.nic.remap_up.min = slow.nic.remap_up.max;
  SimFabric fabric(slow, side_by_side({endless(0, 1), endless(1, 0)}));
  fabric.set_link(us(300), fabric.link_of("h0:p0"), false);
  fabric.set_link(us(900), fabric.link_of("h0:p0"), true);
  struct Gap {
    FabricTime from, until;
  };
  std::array<FabricTime, 2> last{};
  std::array<std::vector<Gap>, 2> gaps;
  for (const uint32_t h : {0u, 1u}) {
    fabric.observer(h).on_packet = [&, h](const PacketRecord& r) {
      if (r.direction != Direction::kEgress || r.queue != QueueClass::kData) return;
      if (r.t - last[h] > us(20) && last[h] > us(100)) gaps[h].push_back({last[h], r.t});
      last[h] = r.t;
    };
  }
  fabric.run_until(us(1400));
  const FabricTime noticed_down = us(300) + slow.nic.port_down_delay;
  for (const uint32_t h : {0u, 1u}) {  // the peer remaps too, one way later
    REQUIRE(gaps[h].size() == 2);
    CHECK(gaps[h][0].from - noticed_down < us(12));
    const FabricTime down = gaps[h][0].until - gaps[h][0].from;
    const FabricTime up = gaps[h][1].until - gaps[h][1].from;
    MESSAGE("h" << h << ": gap at failure " << down.us() << " us, at recovery " << up.us()
                << " us");
    CHECK(down > us(199));
    CHECK(down < us(203));
    CHECK(up > us(62));
    CHECK(up < us(66));
  }
  // What it gives to the dead port before it notices, and what was on the wire.
  const auto& packets = fabric.observer(0).packets;
  const auto dead = packets.find({Direction::kEgress, PacketEvent::kDropped, DropCause::kPortDown});
  REQUIRE(dead != packets.end());
  MESSAGE(dead->second << " frames given to the dead port, " << fabric.stats(0).losses_detected
                       << " losses at h0, " << fabric.stats(1).losses_detected << " at h1");
  CHECK(fabric.stats(0).losses_detected > 0);
  CHECK(fabric.stats(1).losses_detected > 0);
  check_clean(fabric);
}

TEST_CASE(
    "a queue pair outlives 5 ms of silence with a pollara NIC, and dies of it with the lab's times") {
  for (const bool slow : {false, true}) {
    CAPTURE(slow);
    Topology fabric_of = pair();
    if (slow) fabric_of.nic = pollara_profile(1);
    SimFabric fabric(fabric_of, side_by_side({endless(0, 1)}));
    for (const char* port : {"h0:p0", "h0:p1"}) {
      fabric.set_wires(us(100), fabric.link_of(port), false);
      fabric.set_wires(us(5100), fabric.link_of(port), true);
    }
    fabric.run_until(us(9000));
    CHECK(fabric.stats(0).qps_in_error == (slow ? 0 : 1));
    if (slow) CHECK(fabric.stats(1).bytes_verified > 10 << 20);
  }
}
