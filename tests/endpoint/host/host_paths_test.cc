// Paths between whole hosts that fail.
//
//   octet: 8 planes x (2 T0 + 4 T1), h0-h3 on one T0 of each plane, h4-h7 on the other
//   rows:  h0 -- T0 -- 1 or 4 T1 -- T0 -- h1 in each of 2 planes

#include <doctest/doctest.h>

#include <set>

#include "endpoint/host/host_node.h"
#include "endpoint/options/profile_maker.h"
#include "fabric/topology/build_topology.h"
#include "fabric/topology/path.h"
#include "tests/endpoint/host/host_runs.h"
#include "tests/support/fabrics.h"
#include "tests/support/nightly.h"
#include "tests/support/times.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::check_clean;
using mrclab::test::endless;
using mrclab::test::first_event;
using mrclab::test::received;
using mrclab::test::side_by_side;
using mrclab::test::SimFabric;
using mrclab::test::us;

namespace {

Topology rows(uint32_t uplinks) { return build_topology(test::shape_of("rows", 2, 2, uplinks, 1)); }

}  // namespace

TEST_CASE("a path that silently drops 20 % leaves within 5 RTT, and goodput stays within 1 %") {
  const auto run = [](bool lossy) {
    auto fabric = std::make_unique<SimFabric>(test::octet(), side_by_side({endless(0, 4)}));
    const LinkId link = fabric->link_of("p3.t0-0:u1");
    if (lossy) {
      fabric->apply(us(100), random_loss(fabric->topology.link(link).a_to_b(), {200'000'000}));
    }
    return fabric;
  };
  auto sound = run(false);
  auto lossy = run(true);
  FabricTime first_loss = FabricTime::never();
  for (auto& observer : lossy->observers) {
    observer.on_packet = [&](const PacketRecord& r) {
      if (r.cause == DropCause::kWireLoss) first_loss = std::min(first_loss, r.t);
    };
  }
  const auto whole = static_cast<double>(received(*sound, 4, us(100), us(600)));
  const auto share = static_cast<double>(received(*lossy, 4, us(100), us(600))) / whole;
  MESSAGE("goodput with one lossy path: " << share);
  CHECK(share > 0.99);
  const FabricTime out = first_event(lossy->observer(0), "ev_state", "assumed_bad", ev_of({3, 1}));
  const FabricTime rtt = lossy->topology.base_rtt;
  MESSAGE("left after " << (out - first_loss).us() / rtt.us() << " RTT");
  CHECK(out - first_loss < rtt * 5);
  for (const auto& event : lossy->observer(0).events) {
    if (event.kind == "ev_state") CHECK(event.ev == ev_of({3, 1}));
  }
  check_clean(*lossy);
}

TEST_CASE("a T1 that stops forwarding costs its paths, not throughput, and is used again after") {
  const auto run = [](bool dead) {
    auto fabric =
        std::make_unique<SimFabric>(test::octet(), side_by_side({endless(0, 4), endless(5, 1)}));
    for (const Port& port : fabric->topology.node(fabric->topology.t1(2, 1)).ports) {
      if (dead) fabric->set_wires(us(100), port.link, false);
      if (dead) fabric->set_wires(us(500), port.link, true);
    }
    return fabric;
  };
  auto sound = run(false);
  auto dead = run(true);
  const auto whole = static_cast<double>(received(*sound, 4, us(160), us(360)));
  const auto share = static_cast<double>(received(*dead, 4, us(160), us(360))) / whole;
  MESSAGE("goodput without the T1: " << share);
  CHECK(share > 0.97);
  dead->run_until(us(1500));
  for (const uint32_t host : {0u, 5u}) {
    for (const auto& event : dead->observer(host).events) {
      if (event.kind == "ev_state") CHECK(event.ev == ev_of({2, 1}));
    }
    CHECK(dead->observer(host).count("ev_state", "assumed_bad") >= 1);
    CHECK(dead->stats(host).evs_bad == 0);
  }
  check_clean(*dead);
}

TEST_CASE("a link that keeps flapping is taken back ever more rarely" *
          doctest::test_suite(test::kWholeRun)) {
  SimFabric fabric(test::octet(), side_by_side({endless(0, 4)}));
  const LinkId link = fabric.link_of("p1.t0-0:u2");
  constexpr int kFlaps = 12;
  for (int i = 0; i < kFlaps; ++i) {
    fabric.set_wires(us(100 + 300 * i), link, false);
    fabric.set_wires(us(130 + 300 * i), link, true);
  }
  fabric.run_until(us(100 + 300 * kFlaps));
  const size_t bad = fabric.observer(0).count("ev_state", "assumed_bad");
  MESSAGE("out " << bad << " times in " << kFlaps << " flaps");
  CHECK(bad >= 3);
  CHECK(bad <= kFlaps / 2);
  check_clean(fabric);
}

TEST_CASE("a lost active value is replaced by a backup of its plane") {
  auto o = side_by_side({endless(0, 4)});
  o.profile = make_profile("lab", test::octet());
  o.profile->active_evs = 16;
  SimFabric fabric(test::octet(), o);
  std::set<EntropyValue> used;
  fabric.observer(0).on_packet = [&](const PacketRecord& r) {
    MrcPacket packet;
    if (r.direction == Direction::kEgress && r.queue == QueueClass::kData &&
        parse_mrc_frame(r.frame.bytes(), packet) == ParseError::kNone &&
        is_write(packet.bth.opcode)) {
      used.insert(packet.entropy());
    }
  };
  fabric.run_until(us(100));
  CHECK(used.size() == 16);
  const Path victim = *path_of(*used.begin());
  used.clear();
  fabric.set_wires(us(101),
                   fabric.link_of("p" + std::to_string(victim.plane) + ".t0-0:u" +
                                  std::to_string(victim.uplink)),
                   false);
  fabric.run_until(us(200));
  used.clear();
  fabric.run_until(us(300));
  CHECK(used.size() == 16);
  CHECK(!used.contains(ev_of(victim)));
  int in_plane = 0;
  for (const EntropyValue ev : used) in_plane += path_of(ev)->plane == victim.plane;
  CHECK(in_plane == 2);
  REQUIRE(fabric.observer(0).count("ev_active", "backup") == 1);
  for (const auto& event : fabric.observer(0).events) {
    if (event.kind == "ev_active") CHECK(event.detail == "in place of " + to_string(victim));
  }
}

TEST_CASE("what a controller denies is not used from that instant, and only it undoes it") {
  SimFabric fabric(test::octet(), side_by_side({endless(0, 4), endless(0, 5), endless(4, 0)}));
  const EntropyValue ev = ev_of({2, 1});
  std::set<uint32_t> used_toward;
  fabric.observer(0).on_packet = [&](const PacketRecord& r) {
    MrcPacket packet;
    if (r.direction == Direction::kEgress && r.event == PacketEvent::kPassed &&
        parse_mrc_frame(r.frame.bytes(), packet) == ParseError::kNone && packet.entropy() == ev) {
      used_toward.insert(host_of_address(fabric.topology, packet.inner.destination).value());
    }
  };
  fabric.apply(us(100), EvDenial{NodeId{0}, ev, NodeId{4}, true});
  // Marks, losses and a plane that goes and comes back change nothing about it.
  fabric.set_link(us(150), fabric.link_of("h0:p2"), false);
  fabric.set_link(us(170), fabric.link_of("h0:p2"), true);
  fabric.apply(us(300), EvDenial{NodeId{0}, ev, {}, true});
  fabric.apply(us(400), EvDenial{NodeId{0}, ev, {}, false});
  fabric.apply(us(500), EvDenial{NodeId{0}, ev, NodeId{4}, false});
  const auto toward = [&](int64_t from, int64_t until) {
    fabric.run_until(us(from));
    used_toward.clear();
    fabric.run_until(us(until));
    return used_toward;
  };
  using Hosts = std::set<uint32_t>;
  CHECK(toward(50, 99) == Hosts{4, 5});
  CHECK(toward(102, 299) == Hosts{5});
  CHECK(toward(302, 399) == Hosts{});
  CHECK(toward(402, 499) == Hosts{5});
  CHECK(toward(502, 900) == Hosts{4, 5});  // two queue pairs in turn may keep to planes for long
  // h0 has two queue pairs to h4, one for each direction's data, and one to h5.
  CHECK(fabric.observer(0).count("ev_state", "denied") == 3);
  CHECK(fabric.observer(0).count("ev_state", "good") == 3);
  std::vector<EvState> told;
  while (const auto event = fabric.host(0).poll_ev_event()) {
    CHECK(event->ev == ev);
    CHECK(event->port == 3);  // 1-based
    told.push_back(event->state);
  }
  CHECK(told == std::vector{EvState::kDenied, EvState::kDenied, EvState::kDenied, EvState::kGood,
                            EvState::kGood, EvState::kGood});
  check_clean(fabric);
}

TEST_CASE("one direction of a plane that is silently dead stops SACKs for no more than a few RTT") {
  for (const uint32_t uplinks : {1u, 4u}) {
    SimFabric fabric(rows(uplinks), side_by_side({endless(0, 1)}));
    // From h1 towards its T0 in plane 0: data comes in, nothing gets out.
    fabric.apply(us(200), WireState{fabric.topology.port({NodeId{1}, PortId{0}}).out, false});
    fabric.stop_when_finished = false;
    FabricTime last_sack = us(200), longest;
    fabric.observer(0).on_packet = [&](const PacketRecord& r) {
      MrcPacket packet;
      if (r.direction != Direction::kIngress || r.event != PacketEvent::kPassed || r.t < us(200) ||
          parse_mrc_frame(r.frame.bytes(), packet) != ParseError::kNone ||
          packet.bth.opcode != Opcode::kSack) {
        return;
      }
      longest = std::max(longest, r.t - last_sack);
      last_sack = r.t;
    };
    std::array<uint64_t, 2> sent_late{};
    fabric.observer(1).on_packet = [&](const PacketRecord& r) {
      if (r.direction == Direction::kEgress && r.t > us(400)) ++sent_late[r.port.value];
    };
    const uint64_t before = received(fabric, 1, us(150), us(200));
    const uint64_t after = received(fabric, 1, us(400), us(450));
    const FabricTime rtt = fabric.topology.base_rtt;
    MESSAGE("longest silence " << longest.us() / rtt.us() << " RTT, " << sent_late[0] << " of "
                               << sent_late[1]);
    CHECK(longest < rtt * 3);
    CHECK(sent_late[0] * 5 < sent_late[1]);  // the dead way is hardly used but for probes
    CHECK(after * 100 > before * 97);
    CHECK(fabric.stats(1).ev_probes_sent > 10);
    CHECK(fabric.stats(1).ev_probes_answered > 5);
    CHECK(fabric.stats(1).ev_probe_rtt < rtt * 3);
    CHECK(fabric.stats(0).ev_probes_sent == 0);
    check_clean(fabric);
  }
}
