// Paths, ports and NICs of whole hosts that fail.
//
//   octet: 8 planes x (2 T0 + 4 T1), h0-h3 on one T0 of each plane, h4-h7 on the other
//   pair:  h0, h1 --2 planes-- one T0 each
//   rows:  h0 -- T0 -- 1 or 4 T1 -- T0 -- h1 in each of 2 planes
//   dual_homed: h0 on leaf1 and leaf2, h1 on leaf3 and leaf4, two spines; any port leads to any

#include <doctest/doctest.h>

#include <set>

#include "endpoint/host/host_node.h"
#include "endpoint/options/profile_maker.h"
#include "fabric/topology/build_topology.h"
#include "fabric/topology/fabric_file.h"
#include "fabric/topology/path.h"
#include "tests/support/fabrics.h"
#include "tests/support/mem_fabric.h"
#include "tests/support/nightly.h"
#include "tests/support/times.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::endless;
using mrclab::test::MemFabric;
using mrclab::test::pair;
using mrclab::test::us;

namespace {

Topology rows(uint32_t uplinks) { return build_topology(test::shape_of("rows", 2, 2, uplinks, 1)); }

Topology dual_homed() {
  return build_topology(parse_fabric(read_yaml_text(
      "name: dual\nswitches: {leaf1: 0100, leaf2: 0200, leaf3: 0300, leaf4: 0400, spine5: 0500, "
      "spine6: 0600}\nhosts: [[leaf1, leaf2], [leaf3, leaf4]]\nlinks: {leaf*: [spine5, spine6]}\n",
      "dual.yaml")));
}

MemFabric::Options side_by_side(std::initializer_list<WorkloadSpec> specs) {
  MemFabric::Options o;
  o.workloads = specs;
  return o;
}

/// Payload bytes that reached `host` between two instants.
uint64_t received(MemFabric& fabric, uint32_t host, FabricTime from, FabricTime until) {
  fabric.run_until(from);
  const uint64_t before = fabric.stats(host).goodput_bytes();
  fabric.run_until(until);
  return fabric.stats(host).goodput_bytes() - before;
}

FabricTime first(const test::RecordingObserver& observer, std::string_view kind,
                 std::string_view cause, std::optional<EntropyValue> ev = {}) {
  for (const auto& event : observer.events) {
    if (event.kind == kind && event.cause == cause && (!ev || event.ev == ev)) return event.t;
  }
  return FabricTime::never();
}

void check_clean(const MemFabric& fabric) {
  for (uint32_t h = 0; h < fabric.topology.host_count(); ++h) {
    CHECK(fabric.stats(h).bytes_mismatched == 0);
    CHECK(fabric.stats(h).qps_in_error == 0);
  }
}

}  // namespace

TEST_CASE("with k of 8 NIC ports down, at either end, goodput is (8 - k) / 8 within 3 %" *
          doctest::test_suite(test::kWholeRun)) {
  const auto goodput = [](const std::string& host, uint32_t down) {
    MemFabric fabric(test::octet(), side_by_side({endless(0, 4)}));
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
  MemFabric::Options options;
  options.workloads = workloads;
  MemFabric fabric(dual_homed(), options);
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
  CHECK(first(h0, "port_status_received", "") < us(100) + t.base_rtt * 2);
  // What was under way has arrived; from now on nothing goes there, no probe either.
  const uint64_t before = to_dead_port, packets[] = {sent(0), sent(1)};
  const uint64_t bytes = received(fabric, 1, us(140), us(300));
  CHECK(to_dead_port == before);
  // Both ports of h0 share what the one of h1 takes.
  CHECK(gbps(bytes, us(160)) > 0.93 * line / 2);
  const uint64_t by_port[] = {sent(0) - packets[0], sent(1) - packets[1]};
  CHECK(by_port[0] > 200);
  CHECK(by_port[1] > 200);
  // What was lost is no path's fault. Each value that leads there is told by itself: its plane goes on.
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
  // Both ends live on port 0 and know it of each other; then both change to port 1 in one instant.
  MemFabric fabric(dual_homed(), side_by_side({endless(0, 1), endless(1, 0)}));
  for (const char* host : {"h0", "h1"}) {
    fabric.set_link(us(50), fabric.link_of(std::string(host) + ":p1"), false);
    fabric.set_link(us(100), fabric.link_of(std::string(host) + ":p1"), true);
    fabric.set_link(us(100), fabric.link_of(std::string(host) + ":p0"), false);
  }
  fabric.run_until(us(100));
  CHECK(first(fabric.observer(0), "port_status_received", "") < us(100));
  const FabricTime later = us(100) + make_profile("lab", fabric.topology).port_status_interval * 3;
  CHECK(received(fabric, 1, later, later + us(100)) > 0);
  check_clean(fabric);
}

TEST_CASE("a path that silently drops 20 % leaves within 5 RTT, and goodput stays within 1 %") {
  const auto run = [](bool lossy) {
    auto fabric = std::make_unique<MemFabric>(test::octet(), side_by_side({endless(0, 4)}));
    const LinkId link = fabric->link_of("p3.t0-0:u1");
    if (lossy) {
      fabric->apply(us(100), random_loss(fabric->topology.link(link).a_to_b, {200'000'000}));
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
  const FabricTime out = first(lossy->observer(0), "ev_state", "assumed_bad", ev_of({3, 1}));
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
        std::make_unique<MemFabric>(test::octet(), side_by_side({endless(0, 4), endless(5, 1)}));
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
  MemFabric fabric(test::octet(), side_by_side({endless(0, 4)}));
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
  MemFabric fabric(test::octet(), o);
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
  MemFabric fabric(test::octet(), side_by_side({endless(0, 4), endless(0, 5), endless(4, 0)}));
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
    MemFabric fabric(rows(uplinks), side_by_side({endless(0, 1)}));
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

TEST_CASE("with the mask in SACKs a peer that no Port Status Update reaches still learns it") {
  for (const bool in_sacks : {false, true}) {
    auto o = side_by_side({endless(0, 1)});
    o.profile = make_profile("lab", pair());
    o.profile->sack_port_mask = in_sacks;
    o.profile->port_status_interval = us(2000);  // the first copy is lost, the next comes late
    MemFabric fabric(pair(), o);
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
    MemFabric fabric(test::octet(), o);
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
  MemFabric fabric(slow, side_by_side({endless(0, 1), endless(1, 0)}));
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
