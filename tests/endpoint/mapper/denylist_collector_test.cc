// A collector on a bench: reports of agents go in, and what it denies comes out.

#include "endpoint/mapper/denylist_collector.h"

#include <doctest/doctest.h>

#include <functional>
#include <set>

#include "fabric/probes/probe_route.h"
#include "tests/support/fabrics.h"

using namespace mrclab;
using namespace mrclab::endpoint;

namespace {

/// A probe of a host is lost if the function says so.
using Loses = std::function<bool(uint32_t host, const Probe&, uint64_t period)>;

struct CollectorBench {
  Topology topology;
  DenylistCollector collector;
  uint64_t period = 0;
  std::vector<std::string> events;

  explicit CollectorBench(const DenylistPolicy& policy)
      : topology(made(policy)), collector(topology) {
    take_events();
  }
  static Topology made(const DenylistPolicy& policy) {
    Topology topology = test::octet();
    topology.mapper.on = true;
    topology.mapper.period = {4, {}};
    topology.denylist = policy;
    topology.denylist.on = true;
    return topology;
  }
  FabricTime now() const {
    return probe_period(topology) * static_cast<int64_t>(period + 1) + probe_timeout(topology);
  }
  void take_events() {
    for (const auto& change : collector.take_changes()) {
      events.push_back(std::string(change.cause) + " " + name_of(topology, change.part));
    }
  }
  void run(uint64_t periods, const Loses& loses, const std::set<uint32_t>& silent = {}) {
    for (const uint64_t end = period + periods; period < end; ++period) {
      collector.run_drains(now());
      for (uint32_t host = 0; host < topology.host_count(); ++host) {
        if (silent.contains(host)) continue;
        AgentReport report{period, collector.list().version, {}};
        for (const Probe& probe : planned_probes(topology, host, period)) {
          report.fates.push_back(loses(host, probe, period) ? ProbeFate::kLost : ProbeFate::kBack);
        }
        CHECK(collector.take(host, report, now()));
      }
      collector.end_period(period, now());
      take_events();
    }
  }
  /// Loses every n-th probe over one of these wires.
  Loses wires(const std::string& link, bool up, bool down, uint32_t every = 1) {
    const auto port = topology.find_port(link);
    const Link& found = topology.link(topology.wire(topology.port(*port).out).link);
    return [=, this, count = 0u](uint32_t host, const Probe& probe, uint64_t) mutable {
      for (const WireId wire : probe_wires(topology, host, probe)) {
        if ((up && wire == found.a_to_b()) || (down && wire == found.b_to_a())) {
          return ++count % every == 0;
        }
      }
      return false;
    };
  }
};

bool none(uint32_t, const Probe&, uint64_t) { return false; }
using Names = std::vector<std::string>;

}  // namespace

TEST_CASE(
    "a collector denies a link that lost its light or one direction, within two periods and no other") {
  for (const bool down : {false, true}) {
    for (const std::string link : {"p0.t0-0:u1", "p5.t0-1:u3", "p2.t0-0:d1"}) {
      CAPTURE(link);
      CollectorBench bench({});
      bench.run(3, none);
      bench.run(3, bench.wires(link, true, down));
      REQUIRE(bench.events.size() == 1);
      CHECK(bench.events.front().starts_with("deny link "));
      CHECK(bench.events.front().find(link) != std::string::npos);
    }
  }
}

TEST_CASE(
    "a collector finds a gray loss, and counts the last probes where the policy counts them") {
  DenylistPolicy policy;
  CollectorBench certain(policy);
  certain.run(120, certain.wires("p0.t0-0:u1", true, false, 9));
  CHECK(certain.events == Names{"deny link p0.t0-0:u1--p0.t1-1:d0"});
  policy.rule = DenylistPolicy::Rule::kOverLoss;
  policy.probes = 60;
  policy.loss = {
      40'000'000};  // of 60 probes over the link two of each three take the wire: 4 are lost
  CollectorBench counts(policy);
  counts.run(120, counts.wires("p0.t0-0:u1", true, false, 9));
  CHECK(counts.events == Names{"deny link p0.t0-0:u1--p0.t1-1:d0"});
  policy.loss = {100'000'000};
  CollectorBench more(policy);
  more.run(120, more.wires("p0.t0-0:u1", true, false, 9));
  CHECK(more.events.empty());
}

TEST_CASE(
    "a denied link is allowed again after clean periods, and after a relapse after twice as many") {
  DenylistPolicy policy;
  policy.clean = 5;
  CollectorBench bench(policy);
  const auto dark = [&] { return bench.wires("p0.t0-0:u1", true, true); };
  for (const uint64_t clean : {5u, 10u, 20u, 40u, 80u, 80u}) {
    CAPTURE(clean);
    bench.events.clear();
    bench.run(3, dark());
    bench.run(clean - 1, none);
    CHECK(bench.events == Names{"deny link p0.t0-0:u1--p0.t1-1:d0"});
    bench.run(3, none);
    CHECK(bench.events.size() == 2);
  }
}

TEST_CASE("for: a link stays denied for so many periods at least") {
  DenylistPolicy policy;
  policy.clean = 2;
  policy.hold = 30;
  CollectorBench bench(policy);
  bench.run(2, bench.wires("p0.t0-0:u1", true, true));
  bench.run(28, none);
  CHECK(bench.events.size() == 1);
  bench.run(5, none);
  CHECK(bench.events.size() == 2);
}

TEST_CASE(
    "no lie denies more than a share of a plane, of a host's ports, or the last way between two T0s") {
  for (const uint32_t quarters : {1u, 2u, 4u}) {
    DenylistPolicy policy;
    policy.at_most = {Probability::kOne / 4 * quarters};
    policy.fixed = {"p0", "p1.t0-0", "p2.t0-*:u*", "p*.t1-1", "h0:p*", "h*:p3"};
    CollectorBench bench(policy);
    CHECK(bench.events.size() > 3);
    const DeniedList list = bench.collector.list();
    const LinkNumbers numbers(bench.topology);
    std::set<uint32_t> denied;
    for (const DeniedPart& part : list.parts) {
      for (const uint32_t link : numbers.links_of(part)) denied.insert(link);
    }
    for (uint32_t plane = 0; plane < 8; ++plane) {
      uint32_t between = 0;
      for (uint32_t a = 0; a < 2; ++a) {
        for (uint32_t u = 0; u < 4; ++u) between += denied.contains(numbers.link(plane, a, u));
      }
      CHECK(between <= 2 * quarters);
    }
    for (uint32_t host = 0; host < 8; ++host) {
      uint32_t ports = 0;
      for (uint32_t plane = 0; plane < 8; ++plane) {
        ports += denied.contains(numbers.port(plane, host));
      }
      CHECK(ports <= 2 * quarters);
    }
  }
  DenylistPolicy policy;
  policy.at_most = {Probability::kOne / 4 * 3};
  policy.fixed = {"p0.t0-0:u[0-1]", "p0.t0-1:u[2-3]"};
  CHECK(CollectorBench(policy).events.back() == "capped link p0.t0-1:u3--p0.t1-3:d1");
}

TEST_CASE(
    "a T0 that loses everything takes a share of its plane with it, and what is capped is denied once there is room") {
  DenylistPolicy policy;
  policy.clean = 5;
  CollectorBench bench(policy);
  bench.run(6, [&](uint32_t host, const Probe& probe, uint64_t) {
    return probe.plane == 0 &&
           (bench.topology.host_row(host) == 0 || probe.kind == ProbeKind::kCross);
  });
  CHECK(bench.collector.list().parts.size() <= 2 + 2);
  bench.run(20, none);
  CHECK(bench.collector.list().parts.empty());
}

TEST_CASE(
    "hosts that are silent, and periods that are reported twice or not yet, are no evidence") {
  CollectorBench bench({});
  bench.run(3, none);
  const AgentReport good{2, 0, {}};
  CHECK_FALSE(bench.collector.take(3, good, bench.now()));  // not as many fates as probes
  AgentReport lost{3, 0, {}};
  for (const Probe& probe : planned_probes(bench.topology, 3, 3)) {
    (void)probe;
    lost.fates.push_back(ProbeFate::kLost);
  }
  CHECK_FALSE(bench.collector.take(3, lost, FabricTime::from_us(1)));  // not over yet
  CHECK_FALSE(bench.collector.take(8, lost, bench.now()));             // no such host
  for (int again = 0; again < 50; ++again) CHECK(bench.collector.take(3, lost, bench.now()));
  bench.take_events();
  CHECK(bench.events.empty());
  bench.period = 4;
  bench.run(20, none, {5});
  CHECK(bench.events.empty());
}

TEST_CASE(
    "a drain is denied from its instant on, and allowed at its end once its probes come back") {
  DenylistPolicy policy;
  policy.clean = 3;
  Topology octet = test::octet();
  octet.mapper.period = {4, {}};
  const FabricTime period = probe_period(octet);
  policy.drains = {{"p2.t1-1", period * 5, period * 20}};
  CollectorBench bench(policy);
  CHECK(bench.collector.deadline() == period * 5);
  bench.run(6, none);
  CHECK(bench.events == Names{"deny switch p2.t1-1"});
  const auto dark = [](uint32_t, const Probe& probe, uint64_t) {
    return probe.plane == 2 && ((probe.kind != ProbeKind::kT0 && probe.uplink == 1) ||
                                (probe.kind == ProbeKind::kCross && probe.back == 1));
  };
  bench.run(20, dark);  // its time is over, and it is still off
  CHECK(bench.events.size() == 1);
  bench.run(5, none);
  CHECK(bench.events == Names{"deny switch p2.t1-1", "allow switch p2.t1-1"});
}

TEST_CASE("a report of a period that has not ended, however far ahead, is refused") {
  CollectorBench bench({});
  bench.run(3, none);
  for (const uint64_t ahead : {bench.period + 1, uint64_t{1} << 39, UINT64_MAX - 1, UINT64_MAX}) {
    AgentReport report{ahead, 0, {}};
    report.fates.resize(planned_probes(bench.topology, 0, ahead).size(), ProbeFate::kLost);
    CHECK_FALSE(bench.collector.take(0, report, bench.now()));
  }
  CHECK(bench.collector.list().parts.empty());
}
