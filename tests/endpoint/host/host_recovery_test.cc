// Loss recovery and message semantics between whole hosts.
//
//   pair:  h0, h1 --2 planes-- T0

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "endpoint/host/host_node.h"
#include "endpoint/options/profile_maker.h"
#include "fabric/packet/headers.h"
#include "fabric/topology/build_topology.h"
#include "fabric/topology/path.h"
#include "tests/support/fabrics.h"
#include "tests/support/mrc_frames.h"
#include "tests/support/nightly.h"
#include "tests/support/sim_fabric.h"
#include "tests/support/times.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::endless;
using mrclab::test::pair;
using mrclab::test::SimFabric;
using mrclab::test::us;

namespace {

SimFabric::Options writes(uint64_t size, uint32_t count) {
  WriteSpec spec;
  spec.from = 0;
  spec.to = 1;
  spec.size = {size};
  spec.count = count;
  SimFabric::Options o;
  o.workloads = {spec};
  o.profile = make_profile("lab", pair());
  return o;
}

}  // namespace

TEST_CASE("a host whose ports are all dead before it sends anything ends in an error as well") {
  for (const std::string_view host : {"h0", "h1"}) {
    SimFabric fabric(pair(), writes(1 << 20, 4));
    for (const std::string_view port : {":p0", ":p1"}) {
      fabric.set_link(us(0), fabric.link_of(std::string(host) + std::string(port)), false);
    }
    fabric.run_until(us(10'000));
    CHECK(fabric.observer(0).count("qp_error", "Retry Counter Exceeded") == 1);
    CHECK(fabric.host(0).finished());
  }
}

TEST_CASE("whole hosts: PSN, MSN and RQMSN wrap in the middle of a lossy transfer") {
  for (const uint32_t first_msn : {0xFFFEu, 0xFF'FFFEu}) {
    auto o = writes(64 * 1024, 40);
    o.profile->first_psn = Psn{0xFFFF00};
    o.profile->first_msn = first_msn;
    o.profile->max_immediates = 4;
    SimFabric fabric(pair(), o);
    for (const Wire& wire : fabric.topology.all_wires()) {
      fabric.apply(us(0), random_loss(wire.id, {20'000'000}));
    }
    std::optional<uint16_t> lowest, highest;
    fabric.observer(0).on_packet = [&](const PacketRecord& r) {
      MrcPacket packet;
      if (r.direction != Direction::kEgress || r.queue != QueueClass::kData) return;
      if (parse_mrc_frame(r.frame.bytes(), packet) != ParseError::kNone) return;
      const auto* write = std::get_if<WriteHeaders>(&packet.extension);
      if (write == nullptr) return;
      lowest = std::min(lowest.value_or(write->meth.msn), write->meth.msn);
      highest = std::max(highest.value_or(write->meth.msn), write->meth.msn);
    };
    fabric.run_until(us(20'000));
    CHECK(fabric.stats(0).writes_completed == 40);
    CHECK(fabric.stats(1).bytes_verified == 40 * 64 * 1024);
    CHECK(fabric.stats(1).bytes_mismatched == 0);
    CHECK(fabric.stats(0).qps_in_error == 0);
    CHECK(lowest == 0);
    CHECK(highest == 0xFFFF);
  }
}

TEST_CASE(
    "a value that a SACK tells to be bad is probed when its interval is over, whatever else "
    "waits") {
  auto o = writes(16 << 20, 1);  // one, as each that is posted sets the timer
  const FabricTime rtt = pair().base_rtt;
  // The only other timers of the queue pair run for so long that no probe would be waiting for one of them.
  o.profile->tail_probe = o.profile->ack_timeout = rtt * 100;
  SimFabric fabric(pair(), o);
  fabric.set_wires(us(300), fabric.link_of("h1:p0"), false);
  std::optional<FabricTime> probed;
  fabric.observer(0).on_packet = [&](const PacketRecord& r) {
    MrcPacket packet;
    if (r.direction != Direction::kEgress || !r.frame || probed) return;
    if (parse_mrc_frame(r.frame.bytes(), packet) != ParseError::kNone) return;
    if (packet.bth.opcode == Opcode::kProbeRequest) probed = r.t;
  };
  fabric.run_until(us(300) + rtt * 20);
  const auto& events = fabric.observer(0).events;
  const auto bad = std::find_if(events.begin(), events.end(),
                                [](const auto& event) { return event.cause == "assumed_bad"; });
  REQUIRE(bad != events.end());
  REQUIRE(probed.has_value());
  CHECK(*probed - bad->t > rtt);
  CHECK(*probed - bad->t < rtt * 3);
}

TEST_CASE("queue pairs of one pair of hosts have entropy values of their own") {
  SimFabric::Options o;
  WriteSpec spec = endless(0, 4);
  spec.qps = 7;  // not 8: queue pairs and ports in turn would make a queue pair meet one port only
  o.workloads = {spec};
  o.profile = make_profile("lab", test::octet());
  o.profile->ev_limit = 8;  // of 32: one of four uplinks in each plane
  SimFabric fabric(test::octet(), o);
  std::map<uint32_t, std::set<EntropyValue>> used;  // by queue pair
  fabric.observer(0).on_packet = [&](const PacketRecord& record) {
    MrcPacket packet;
    const bool sent = record.direction == Direction::kEgress && record.frame;
    if (!sent || parse_mrc_frame(record.frame.bytes(), packet) != ParseError::kNone) return;
    if (is_write(packet.bth.opcode)) used[packet.bth.destination_qp.value].insert(packet.entropy());
  };
  fabric.run_until(us(60));
  std::set<std::set<EntropyValue>> sets;
  for (const auto& [qp, values] : used) {
    CHECK(values.size() == 8);
    sets.insert(values);
  }
  CHECK(used.size() == 7);
  CHECK(sets.size() == 7);  // two alike: one chance in 4^8 for each two
}

TEST_CASE("two queue pairs to one destination share its window fairly") {
  auto o = writes(256 * 1024, 0);
  o.workloads.push_back(o.workloads[0]);
  o.end = us(300);
  SimFabric fabric(pair(), o);
  std::map<uint32_t, uint64_t> packets;
  fabric.observer(0).on_packet = [&](const PacketRecord& r) {
    MrcPacket packet;
    if (r.direction != Direction::kEgress || r.queue != QueueClass::kData) return;
    if (r.t < us(50) || r.t > us(250)) return;
    if (parse_mrc_frame(r.frame.bytes(), packet) != ParseError::kNone) return;
    if (is_write(packet.bth.opcode)) ++packets[packet.bth.destination_qp.value];
  };
  fabric.run_until(us(300));
  REQUIRE(packets.size() == 2);
  const uint64_t a = packets.begin()->second, b = packets.rbegin()->second;
  CHECK(a + b > 1000);
  CHECK(a > b * 95 / 100);
  CHECK(b > a * 95 / 100);
}

TEST_CASE("a queue pair that fails gives its share of the window back and disturbs no other") {
  auto o = writes(256 * 1024, 40);
  o.workloads.push_back(o.workloads[0]);
  SimFabric fabric(pair(), o);
  const auto plan = plan_connections(fabric.topology, o.workloads, 1);
  fabric.stop_when_finished = false;
  fabric.run_until(us(40));
  // A NAK for what h0's first queue pair has in flight, as its peer would send it.
  const Topology& t = fabric.topology;
  std::optional<Psn> newest;
  fabric.observer(0).on_packet = [&](const PacketRecord& r) {
    MrcPacket packet;
    if (r.direction != Direction::kEgress || r.queue != QueueClass::kData) return;
    if (parse_mrc_frame(r.frame.bytes(), packet) != ParseError::kNone) return;
    if (packet.bth.destination_qp == plan[0].acceptor.qpn) newest = packet.bth.psn;
  };
  fabric.run_until(us(45));
  REQUIRE(newest);
  MrcFrameSpec nak;
  nak.ev = ev_of({0, kT0LocalUplink});
  nak.carrier = make_carrier(t, 1, 0, {0, kT0LocalUplink});
  shift_carrier(nak.carrier);
  nak.outer_source = nak.inner_source = host_address(t, 1);
  nak.inner_destination = host_address(t, 0);
  nak.bth.destination_qp = plan[0].initiator.qpn;
  nak.bth.opcode = Opcode::kAcknowledge;
  nak.bth.psn = *newest;
  nak.extension = Aeth{0x62, 0};
  std::vector<uint8_t> bytes(mrc_frame_size(nak));
  write_mrc_headers(nak, bytes);
  finish_mrc_frame(bytes);
  Arrival arrival;
  arrival.frame = fabric.frames().copy(bytes);
  arrival.start = arrival.arrival = fabric.now();
  arrival.sequence = 1'000'000;
  fabric.host(0).receive(PortId{0}, std::move(arrival));
  fabric.run_until(us(2000));
  CHECK(fabric.observer(0).count("qp_error", "Remote Access Error") == 1);
  CHECK(fabric.stats(0).qps_in_error == 1);
  CHECK(fabric.stats(1).qps_in_error == 0);
  // The other one does all of its work, in the time that it takes alone on 2 x 100 Gb/s.
  CHECK(fabric.stats(1).bytes_verified >= 40 * 256 * 1024);
  CHECK(fabric.stats(1).bytes_mismatched == 0);
  CHECK(fabric.stats(0).losses_detected == 0);
}

TEST_CASE("without trim NACKs data is not trimmed, and congestion is recovered all the same") {
  auto o = writes(1 << 20, 4);
  Topology three = build_topology(test::shape_of("three", 2, 1, 0, 3));
  o.profile = make_profile("lab", three);
  o.profile->trim_nack = false;
  o.profile->congestion_control = CongestionAlgorithm::kFixed;
  o.workloads.push_back(o.workloads[0]);
  std::get<WriteSpec>(o.workloads[1]).from = 2;
  SimFabric fabric(three, o);
  fabric.run_until(us(20'000));
  CHECK(fabric.stats(1).bytes_verified == 8 << 20);
  CHECK(fabric.stats(1).trims_seen == 0);
  CHECK(fabric.stats(0).trim_nacks_received == 0);
  CHECK(fabric.stats(0).qps_in_error + fabric.stats(2).qps_in_error == 0);
}

TEST_CASE("slow paths are not bad paths: what queues delay beyond the window is put right" *
          doctest::test_suite(test::kWholeRun)) {
  // Four senders across T1 with a fixed window of 3 BDP each queue for several round trips.
  const auto run = [](bool adaptive) {
    SimFabric::Options o;
    for (uint32_t h = 4; h < 8; ++h) {
      WriteSpec spec;
      spec.from = h;
      spec.to = 0;
      spec.size = {1 << 20};
      spec.count = 16;
      o.workloads.emplace_back(spec);
    }
    o.profile = make_profile("lab", test::octet());
    o.profile->congestion_control = CongestionAlgorithm::kFixed;
    o.profile->window_percent = 300;
    if (!adaptive) o.profile->reorder_window_max = o.profile->reorder_window;
    SimFabric fabric(test::octet(), o);
    fabric.stop_when_finished = false;  // the last value may be on probation when the work is done
    fabric.run_until(us(5000));
    CHECK(fabric.stats(0).bytes_verified == 64 << 20);
    HostStats sum;
    for (uint32_t h = 4; h < 8; ++h) {
      const HostStats s = fabric.stats(h);
      sum.losses_detected += s.losses_detected;
      sum.spurious_losses += s.spurious_losses;
      sum.evs_lost += s.evs_lost;
      sum.evs_regained += s.evs_regained;
    }
    return sum;
  };
  const HostStats adaptive = run(true), fixed = run(false);
  CHECK(adaptive.losses_detected * 4 < fixed.losses_detected * 3);
  CHECK(adaptive.spurious_losses * 2 > adaptive.losses_detected);
  CHECK(adaptive.evs_regained == adaptive.evs_lost);
}
/// Two hosts on different T0s, two planes, two paths in each.
Topology two_uplinks() { return build_topology(test::shape_of("two-uplinks", 2, 2, 2, 1)); }

TEST_CASE("each mechanism of the transport can be switched off, and does nothing then") {
  struct Row {
    const char* what;
    bool TransportProfile::*mechanism;
    uint64_t (*done)(const HostStats& stats, const std::set<uint32_t>& evs);  // 0: nothing
  };
  for (const Row& row : {
           Row{"spray", &TransportProfile::spray,
               [](const HostStats&, const auto&evs) -> uint64_t { return evs.size() - 1; }},
           Row{"avoid_lost", &TransportProfile::avoid_lost,
               [](const HostStats&stats, const auto&) { return stats.probes_sent; }},
           Row{"port_status", &TransportProfile::port_status,
               [](const HostStats&stats, const auto&) { return stats.port_status_sent; }},
       }) {
    CAPTURE(std::string(row.what));
    for (const bool on : {true, false}) {
      auto o = writes(256 * 1024, 8);
      (*o.profile).*row.mechanism = on;
      o.profile->tail_probe = us(5'000);  // no probes but those of entropy values
      SimFabric fabric(two_uplinks(), o);
      fabric.stop_when_finished = false;
      for (const Wire& wire : fabric.topology.all_wires()) {
        if (wire.from.node == NodeId{0} && wire.from.port == PortId{0}) {
          fabric.apply(us(0), random_loss(wire.id, {100'000'000}));
        }
      }
      // A port that carries no traffic any more reports its death.
      fabric.set_link(us(3'900), fabric.link_of("h0:p1"), false);
      std::set<uint32_t> evs;
      fabric.observer(0).on_packet = [&](const PacketRecord& r) {
        MrcPacket packet;
        if (r.direction != Direction::kEgress || r.queue != QueueClass::kData) return;
        if (parse_mrc_frame(r.frame.bytes(), packet) != ParseError::kNone) return;
        if (std::holds_alternative<WriteHeaders>(packet.extension)) {
          evs.insert(packet.entropy().value);
        }
      };
      fabric.run_until(us(4'000));
      CHECK(fabric.stats(0).writes_completed == 8);
      CHECK(fabric.stats(1).bytes_mismatched == 0);
      CHECK((row.done(fabric.stats(0), evs) > 0) == on);
    }
  }
}

TEST_CASE("without selective acknowledgements losses are found by timeouts, and nothing is lost") {
  for (const bool selective : {true, false}) {
    auto o = writes(256 * 1024, 8);
    o.profile->selective_acks = selective;
    SimFabric fabric(pair(), o);
    for (const Wire& wire : fabric.topology.all_wires()) {
      fabric.apply(us(0), random_loss(wire.id, {10'000'000}));
    }
    fabric.run_until(us(20'000));
    CHECK(fabric.stats(0).writes_completed == 8);
    CHECK(fabric.stats(1).bytes_verified == 8 * 256 * 1024);
    CHECK((fabric.stats(0).timeouts > 0) == !selective);
  }
}

TEST_CASE(
    "between hosts on one T0 a lossy plane stays in use, as it is all of a plane, a dead one not" *
    doctest::test_suite(test::kWholeRun)) {
  SimFabric::Options o;
  o.workloads = {test::endless(0, 1)};
  const auto goodput = [&](uint32_t per_million) {
    SimFabric fabric(test::pair(), o);
    fabric.stop_when_finished = false;
    for (const Wire& wire : fabric.topology.all_wires()) {
      if (per_million != 0) fabric.apply(us(0), random_loss(wire.id, {per_million * 1'000}));
    }
    fabric.run_until(us(400));
    CHECK(fabric.stats(0).evs_lost == 0);
    return static_cast<double>(fabric.stats(1).goodput_bytes());
  };
  const double clean = goodput(0);
  CHECK(goodput(100) > 0.99 * clean);
  CHECK(goodput(1'000) > 0.98 * clean);
  CHECK(goodput(10'000) > 0.9 * clean);

  SimFabric dead(test::pair(), o);
  dead.stop_when_finished = false;
  dead.set_wires(us(100), dead.link_of("h0:p0"), false);
  dead.run_until(us(200));
  CHECK(dead.stats(0).evs_lost == 1);
  CHECK(dead.stats(0).evs_bad == 1);
}

TEST_CASE("where the NICs' own links lose, no path is left for long, as none is better" *
          doctest::test_suite(test::kWholeRun)) {
  // Four pairs across T1s fill the fabric: a path that is left without need has no substitute.
  SimFabric::Options o;
  for (uint32_t h = 0; h < 4; ++h) o.workloads.push_back(test::endless(h, h + 4));
  const auto goodput = [&](uint32_t per_million) {
    SimFabric fabric(build_topology(test::shape_of("full", 2, 2, 4, 4)), o);
    fabric.stop_when_finished = false;
    for (const Wire& wire : fabric.topology.all_wires()) {
      const bool from_host = fabric.topology.node(wire.from.node).role == NodeRole::kHost;
      const bool to_host = fabric.topology.node(wire.to.node).role == NodeRole::kHost;
      if (!from_host && !to_host) continue;
      if (per_million != 0) fabric.apply(us(0), random_loss(wire.id, {per_million * 1'000}));
    }
    fabric.run_until(us(1'000));
    const uint64_t before = fabric.stats(4).goodput_bytes();
    fabric.run_until(us(3'000));
    return static_cast<double>(fabric.stats(4).goodput_bytes() - before);
  };
  CHECK(goodput(10'000) > 0.85 * goodput(0));
}
