#include "analysis/measure/measurements.h"

#include <doctest/doctest.h>

#include "fabric/topology/fabric_file.h"

#include "tests/support/shipped_fabric.h"
#include "tests/support/synthetic_traffic.h"

namespace mrclab::analysis {
namespace {

using test::AnalyzedRun;
using test::kFault;
using test::kHeal;
using test::over_h2_p0;
using test::ScriptedTraffic;
using test::SyntheticRun;

/// Senders over h2:p0 go on for `late` after the fault and return `early` after the heal.
ScriptedTraffic avoiding(FabricTime late, FabricTime early = FabricTime::zero()) {
  ScriptedTraffic traffic;
  traffic.avoids = [=](const SyntheticRun::Sent& s) {
    return over_h2_p0(s) && s.start >= kFault + late && s.start < kHeal + early;
  };
  traffic.lost = [=](const SyntheticRun::Sent& s) {
    return over_h2_p0(s) && s.start >= kFault && s.start < kHeal;
  };
  return traffic;
}

TEST_CASE("goodput between two instants is the payload of first deliveries in it") {
  const std::vector<Delivery> deliveries{{FabricTime::from_ns(10), 0, 100, 0},
                                         {FabricTime::from_ns(20), 1, 200, 0},
                                         {FabricTime::from_ns(30), 2, 400, 0}};
  const GoodputMeter meter(deliveries);
  const auto bytes = [&](int64_t from, int64_t until) {
    return meter.bytes_between(FabricTime::from_ns(from), FabricTime::from_ns(until)).value;
  };
  CHECK(bytes(0, 100) == 700);
  CHECK(bytes(10, 30) == 300);  // [from, until)
  CHECK(bytes(11, 31) == 600);
  CHECK(bytes(30, 10) == 0);
  CHECK(meter.rate_between(FabricTime::from_ns(0), FabricTime::from_ns(100)).bps == 56'000'000'000);
}

TEST_CASE("a wire is crossed by the paths that go over it and no others") {
  const Topology topology = test::quad();
  const auto wire = [&](const char* from) { return topology.port(*topology.find_port(from)).out; };
  struct Row {
    const char* from;
    uint32_t source, destination;
    Path path;
    bool crosses;
  };
  const std::vector<Row> rows{{"h0:p1", 0, 2, {1, 0}, true},
                              {"h0:p1", 0, 2, {0, 0}, false},
                              {"h0:p1", 2, 0, {1, 0}, false},
                              {"p1.t0-0:d0", 2, 0, {1, 1}, true},
                              {"p1.t0-0:d0", 2, 1, {1, 1}, false},
                              {"p0.t0-0:u1", 1, 3, {0, 1}, true},
                              {"p0.t0-0:u1", 1, 3, {0, 0}, false},
                              {"p0.t0-0:u1", 2, 0, {0, 1}, false},
                              {"p0.t1-1:d0", 2, 0, {0, 1}, true},
                              {"p0.t1-1:d1", 2, 0, {0, 1}, false},
                              {"p0.t0-0:u1", 0, 1, {0, kT0LocalUplink}, false}};
  for (const Row& row : rows) {
    CAPTURE(row.from);
    CHECK(WireMatcher(topology, wire(row.from)).crosses(row.source, row.destination, row.path) ==
          row.crosses);
  }
  CHECK(WireMatcher(topology, wire("p0.t0-0:u1")).reachable(0, 2));
  CHECK_FALSE(WireMatcher(topology, wire("p0.t0-0:u1")).reachable(0, 1));

  // Without planes: one packet in so many, of who sends over it at all.
  const Topology graph = read_fabric_file(test::shipped_fabric("ai-backend"));
  const auto paths_over = [&](const char* port) {
    return WireMatcher(graph, graph.port(*graph.find_port(port)).out).paths();
  };
  CHECK(paths_over("h0:p1") == 2);
  CHECK(paths_over("leaf1:u0") == 4);
}

TEST_CASE("goodput of each plane is counted where the packets arrive") {
  const Topology topology = test::quad();
  AnalyzedRun run(topology, "planes");
  ScriptedTraffic traffic;
  traffic.avoids = [](const SyntheticRun::Sent& s) { return s.path.plane == 1; };
  traffic.write(run.run);
  const Measurements m = run.analyze().measurements;
  uint64_t plane0 = 0, plane1 = 0;
  for (const uint64_t bytes : m.planes.bytes[0]) plane0 += bytes;
  for (const uint64_t bytes : m.planes.bytes[1]) plane1 += bytes;
  CHECK(plane0 > 4 * 990 * SyntheticRun::kPayload);
  CHECK(plane1 == 0);
}

TEST_CASE("detection ends with the last first-transmission on an affected path") {
  const Topology topology = test::quad();
  AnalyzedRun run(topology, "detect");
  run.add_link_fault("h2:p0", kFault, kHeal);
  avoiding(FabricTime::from_us(30)).write(run.run);
  const FaultMeasurement m = run.analyze().measurements.faults[0];
  CHECK(m.detection == Detection::kDetected);
  CHECK(m.detect > FabricTime::from_us(25));
  CHECK(m.detect < FabricTime::from_us(30));
  CHECK_FALSE(m.still_used);
}

TEST_CASE("a path is left when its sender first stays away from it, though it comes back later") {
  const Topology topology = test::quad();
  AnalyzedRun run(topology, "left");
  run.add_link_fault("h2:p0", kFault, kHeal);
  ScriptedTraffic traffic = avoiding(FabricTime::from_us(30));
  traffic.avoids = [before = traffic.avoids](const SyntheticRun::Sent& s) {
    const FabricTime since = s.start - kFault;
    return before(s) && (since < FabricTime::from_us(90) || since > FabricTime::from_us(110));
  };
  traffic.write(run.run);
  const FaultMeasurement m = run.analyze().measurements.faults[0];
  REQUIRE(m.left);
  CHECK(*m.left > FabricTime::from_us(25));
  CHECK(*m.left < FabricTime::from_us(30));
  CHECK_FALSE(m.never_left);
  CHECK(m.detect > FabricTime::from_us(90));
}

TEST_CASE("a path whose sender never stays away from it for long is never left") {
  const Topology topology = test::quad();
  AnalyzedRun run(topology, "never-left");
  run.add_link_fault("h2:p0", kFault, kHeal);
  ScriptedTraffic traffic = avoiding(FabricTime::from_us(30));
  traffic.avoids = [before = traffic.avoids](const SyntheticRun::Sent& s) {
    return before(s) && (s.start - kFault).ns() / 1000 % 30 != 0;  // less than 3 RTT apart
  };
  traffic.write(run.run);
  CHECK(run.analyze().measurements.faults[0].never_left);
}

TEST_CASE("retransmissions and probes on a failed path do not count as its use") {
  const Topology topology = test::quad();
  AnalyzedRun run(topology, "rtx");
  run.add_link_fault("h2:p0", kFault, kHeal);
  avoiding(FabricTime::from_us(30)).write(run.run);
  SyntheticRun::Sent again;
  again.source = 0;
  again.destination = 2;
  again.psn = 10;  // long since sent once
  again.path = {0, 0};
  again.start = FabricTime::from_us(550);
  again.retransmission = true;
  run.run.lost(again, "p0.t0-1:d0", "wire_down");
  CHECK(run.analyze().measurements.faults[0].detect < FabricTime::from_us(30));
}

TEST_CASE("a sender that avoids the path from the first instant has detected at once") {
  const Topology topology = test::quad();
  AnalyzedRun run(topology, "at-once");
  run.add_link_fault("h2:p0", kFault, kHeal);
  avoiding(FabricTime::zero()).write(run.run);
  const FaultMeasurement m = run.analyze().measurements.faults[0];
  CHECK(m.detection == Detection::kDetected);
  CHECK(m.detect == FabricTime::zero());
}

TEST_CASE("an idle sender has detected nothing") {
  const Topology topology = test::quad();
  AnalyzedRun run(topology, "idle");
  run.add_link_fault("h2:p0", kFault, kHeal);
  ScriptedTraffic traffic;
  traffic.silent = [](const SyntheticRun::Sent& s) {
    return (s.source == 2 || s.destination == 2) && s.start >= kFault;
  };
  traffic.write(run.run);
  CHECK(run.analyze().measurements.faults[0].detection == Detection::kNothing);
}

TEST_CASE("a sender that uses the path and then falls silent has not shown that it avoids it") {
  const Topology topology = test::quad();
  AnalyzedRun run(topology, "silent");
  run.add_link_fault("h2:p0", kFault, kHeal);
  ScriptedTraffic traffic;
  traffic.silent = [](const SyntheticRun::Sent& s) {
    return (s.source == 2 || s.destination == 2) && s.start >= kFault + FabricTime::from_us(20);
  };
  traffic.write(run.run);
  const FaultMeasurement m = run.analyze().measurements.faults[0];
  CHECK(m.detection == Detection::kUnconfirmed);
  CHECK(m.detect > FabricTime::from_us(15));
}

TEST_CASE("a path that stays in use until it heals is reported so") {
  const Topology topology = test::quad();
  AnalyzedRun run(topology, "still-used");
  run.add_link_fault("h2:p0", kFault, kHeal);
  avoiding(kHeal).write(run.run);
  const Analysis a = run.analyze();
  CHECK(a.measurements.faults[0].still_used);
  CHECK_FALSE(a.verdict.faults[0].detected.has_value());
}

TEST_CASE("with staggered links each is measured from its own start") {
  const Topology topology = test::quad();
  AnalyzedRun run(topology, "stagger");
  run.add_link_fault("h2:p0", kFault, kHeal);
  const FabricTime later = kFault + FabricTime::from_us(100);
  const LinkId second = topology.port(*topology.find_port("h3:p0")).link;
  for (const Impairment& i : impairments_of_links(topology, std::span{&second, 1}, later, kHeal)) {
    run.inputs.faults[0].impairments.push_back(i);
  }
  ScriptedTraffic traffic;
  traffic.avoids = [=](const SyntheticRun::Sent& s) {
    const bool h3 = s.source == 3 || s.destination == 3;
    const FabricTime from = (h3 ? later : kFault) + FabricTime::from_us(20);
    return s.path.plane == 0 && s.start >= from && s.start < kHeal;
  };
  traffic.write(run.run);
  const FaultMeasurement m = run.analyze().measurements.faults[0];
  CHECK(m.detect > FabricTime::from_us(10));
  CHECK(m.detect < FabricTime::from_us(20));
}

TEST_CASE("the baseline is the goodput of the 20 RTT before the first fault") {
  const Topology topology = test::quad();
  AnalyzedRun run(topology, "baseline");
  run.add_link_fault("h2:p0", kFault, kHeal);
  ScriptedTraffic().write(run.run);
  const Baseline b = run.analyze().measurements.baseline;
  CHECK(b.usable);
  CHECK(b.variation < 0.02);
  // Four flows with 4096 bytes each microsecond.
  CHECK(static_cast<double>(b.rate.bps) == doctest::Approx(4 * 4096 * 8e6).epsilon(0.01));
}

TEST_CASE("a baseline that varies, is too short or has no fault behind it is not usable") {
  const Topology topology = test::quad();
  SUBCASE("varies") {
    AnalyzedRun run(topology, "varies");
    run.add_link_fault("h2:p0", kFault, kHeal);
    ScriptedTraffic traffic;
    traffic.silent = [](const SyntheticRun::Sent& s) {
      return s.source == 3 && s.start > kFault - FabricTime::from_us(100);
    };
    traffic.write(run.run);
    const Baseline b = run.analyze().measurements.baseline;
    CHECK_FALSE(b.usable);
    CHECK(b.variation > 0.05);
  }
  SUBCASE("too short") {
    AnalyzedRun run(topology, "short");
    run.add_link_fault("h2:p0", FabricTime::from_us(50), kHeal);
    ScriptedTraffic().write(run.run);
    CHECK_FALSE(run.analyze().measurements.baseline.usable);
  }
  SUBCASE("no fault") {
    AnalyzedRun run(topology, "no-fault");
    ScriptedTraffic().write(run.run);
    CHECK_FALSE(run.analyze().measurements.baseline.usable);
  }
}

/// One byte per nanosecond, except for a dip to `dip` of ten bytes per 10 ns in [from, until).
Measurements steady_with_dip(FabricTime from, FabricTime until, uint32_t dip) {
  std::vector<Delivery> deliveries;
  for (int64_t ns = 0; ns < 1'000'000; ns += 10) {
    const FabricTime t = FabricTime::from_ns(ns);
    deliveries.push_back({t, 0, t >= from && t < until ? dip : 10, 0});
  }
  Measurements m;
  m.goodput = GoodputMeter(deliveries);
  m.base_rtt = FabricTime::from_us(10);
  m.end = FabricTime::from_us(1000);
  return m;
}

TEST_CASE("recovery takes until the end of the first whole window that reaches its target") {
  const BitRate target{8'000'000'000 * 95 / 100};
  const FabricTime start = FabricTime::from_us(300);
  // Nothing for 100 us: a window of 200 us reaches 95 % when at most 10 us of the gap are in it.
  const Measurements m = steady_with_dip(start, FabricTime::from_us(400), 0);
  const auto recovered = recovery_time(m, start, target);
  REQUIRE(recovered);
  CHECK(recovered->us() == doctest::Approx(290).epsilon(0.01));
}

TEST_CASE("a goodput that never misses its target has recovered in no time") {
  const BitRate target{8'000'000'000 * 95 / 100};
  const FabricTime start = FabricTime::from_us(300);
  CHECK(recovery_time(steady_with_dip(start, FabricTime::from_us(400), 10), start, target) ==
        FabricTime::zero());
  // 8 us of silence are 4 % of a window.
  CHECK(recovery_time(steady_with_dip(start, FabricTime::from_us(308), 0), start, target) ==
        FabricTime::zero());
}

TEST_CASE("a goodput that stays low has not recovered") {
  const BitRate target{8'000'000'000 * 95 / 100};
  const FabricTime start = FabricTime::from_us(300);
  CHECK_FALSE(recovery_time(steady_with_dip(start, FabricTime::from_us(1000), 9), start, target));
  const FabricTime late = FabricTime::from_us(900);
  CHECK_FALSE(recovery_time(steady_with_dip(late, late, 0), late, target));  // no whole window left
}

TEST_CASE("a schedule of effects becomes outages of wires, per fault") {
  const Topology topology = test::quad();
  const PortRef port = *topology.find_port("h2:p0");
  const Port& p = topology.port(port);
  const auto us = [](int64_t n) { return FabricTime::from_us(n); };
  std::vector<ScheduledEffect> schedule{{us(10), WireState{p.out, false}, 0, 0, false},
                                        {us(10), PortCarrier{port, false}, 1, 0, false},
                                        {us(20), WireState{p.out, true}, 2, 0, true},
                                        {us(25), PortCarrier{port, true}, 3, 0, true},
                                        {us(40), WireState{p.out, false}, 4, 0, false},
                                        {us(50), WireState{p.out, true}, 5, 0, true},
                                        {us(30), random_loss(p.in, Probability{1000}), 6, 1, false},
                                        {us(900), random_loss(p.in, Probability{0}), 7, 1, true}};
  const std::vector<FaultName> names{{"link_flap h2:p0", "link_flap"}, {"wire_loss", "wire_loss"}};
  const auto spans = fault_spans(topology, names, schedule, us(800));
  REQUIRE(spans.size() == 2);
  CHECK(spans[0].start == us(10));
  CHECK(spans[0].healed_at == us(50));
  // Down until its own port has carrier again, then down a second time.
  CHECK(spans[0].impairments ==
        std::vector<Impairment>{{p.out, us(10), us(25)}, {p.out, us(40), us(50)}});
  CHECK(spans[1].heals);
  CHECK_FALSE(spans[1].healed());  // its undo comes after the end
  CHECK(spans[1].impairments == std::vector<Impairment>{{p.in, us(30), FabricTime::never()}});
}

TEST_CASE("a switch that hangs impairs all wires into it; what breaks no wire impairs none") {
  const Topology topology = test::quad();
  const auto us = [](int64_t n) { return FabricTime::from_us(n); };
  const NodeId t0 = topology.t0(0, 0), host = topology.host(1);
  const std::vector<ScheduledEffect> schedule{
      {us(10), SwitchState{t0, SwitchWork::kHung}, 0, 0, false},
      {us(15), SwitchTrim{t0, true}, 1, 1, false},
      {us(15), HostState{host, HostWork::kPaused}, 2, 2, false},
      {us(16), HostBurst{host, topology.host(0), {1000}}, 3, 3, false},
      {us(20), SwitchState{t0, SwitchWork::kForwarding}, 4, 0, true},
      {us(25), SwitchTrim{t0, false}, 5, 1, true}};
  const std::vector<FaultName> names{
      {"a", "switch_hang"}, {"b", "trim_off"}, {"c", "host_pause"}, {"d", "incast"}};
  const auto spans = fault_spans(topology, names, schedule, us(800));
  REQUIRE(spans[0].impairments.size() == topology.node(t0).ports.size());
  for (const Impairment& i : spans[0].impairments) {
    CHECK(topology.wire(i.wire).to.node == t0);
    CHECK(i.from == us(10));
    CHECK(i.until == us(20));
  }
  CHECK(spans[0].healed_at == us(20));
  for (size_t i = 1; i < 4; ++i) CHECK(spans[i].impairments.empty());
  CHECK(spans[1].healed_at == us(25));
  CHECK_FALSE(spans[2].healed());  // still paused
  CHECK(spans[3].healed());        // it happened once; there is nothing to undo
}

TEST_CASE("where two faults overlap on a wire, the effect that ends both heals both") {
  const Topology topology = test::quad();
  const WireId wire = topology.port(*topology.find_port("h2:p0")).out;
  const auto us = [](int64_t n) { return FabricTime::from_us(n); };
  // The first holds it from 10 to 30, the second from 20 to 40: states change at 10 and 40 only.
  const std::vector<ScheduledEffect> schedule{{us(10), WireState{wire, false}, 0, 0, false},
                                              {us(40), WireState{wire, true}, 1, 1, true}};
  const std::vector<FaultName> names{{"first", "blackhole"}, {"second", "blackhole"}};
  const auto spans = fault_spans(topology, names, schedule, us(800));
  CHECK(spans[0].healed_at == us(40));
  CHECK(spans[0].heals);
  CHECK(spans[1].healed_at == us(40));
  CHECK(spans[0].impairments == std::vector<Impairment>{{wire, us(10), us(40)}});
}

TEST_CASE("a receiver that is slow, then stalled, is each fault's for its own time") {
  const Topology topology = test::quad();
  const auto us = [](int64_t n) { return FabricTime::from_us(n); };
  const NodeId host = topology.host(1);
  const HostDrain slow{host, DrainKind::kSlow, {1'000'000'000}};
  const std::vector<ScheduledEffect> schedule{
      {us(10), slow, 0, 0, false},
      {us(20), HostDrain{host, DrainKind::kStalled, {}}, 1, 1, false},
      {us(30), slow, 2, 0, true},
      {us(40), HostDrain{host, DrainKind::kAsBuilt, {}}, 3, 0, true}};
  const std::vector<FaultName> names{{"a", "slow_receiver"}, {"b", "pcie_stall"}};
  const auto spans = fault_spans(topology, names, schedule, us(800));
  CHECK(spans[0].receivers ==
        std::vector<SlowedReceiver>{{host, us(10), us(20)}, {host, us(30), us(40)}});
  CHECK(spans[1].receivers == std::vector<SlowedReceiver>{{host, us(20), us(30)}});
  CHECK(spans[0].healed_at == us(40));
  CHECK(spans[1].healed_at == us(30));
  for (const FaultSpan& span : spans) CHECK(span.impairments.empty());
}

}  // namespace
}  // namespace mrclab::analysis
