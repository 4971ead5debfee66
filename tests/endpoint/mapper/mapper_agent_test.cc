// An agent on a bench: what it sends, what it takes for an answer, and what it reports.

#include "endpoint/mapper/mapper_agent.h"

#include <doctest/doctest.h>

#include <map>
#include <vector>

#include "fabric/probes/probe_route.h"
#include "tests/support/fabrics.h"

using namespace mrclab;
using namespace mrclab::endpoint;

namespace {

struct AgentBench {
  Topology topology = test::octet();
  MapperAgent agent{with_mapper(topology), 1, 7};
  FabricTime now;
  std::vector<MapperAgent::Due> sent;
  std::vector<ProbeReport> reports;

  static const Topology& with_mapper(Topology& t) {
    t.mapper.on = true;
    t.mapper.period = {10, {}};
    return t;
  }
  static SeenProbe answer_to(const MapperAgent::Due& due) {
    SeenProbe seen;
    seen.tag = due.tag;
    return seen;
  }
  /// Runs until `until`; each probe for which `answers` holds comes back a microsecond later.
  template <class Answers>
  void run(FabricTime until, Answers answers) {
    std::multimap<FabricTime, MapperAgent::Due> back;
    while (true) {
      const FabricTime next =
          back.empty() ? agent.deadline() : std::min(agent.deadline(), back.begin()->first);
      if (next > until) break;
      now = next;
      while (!back.empty() && back.begin()->first <= now) {
        const MapperAgent::Due due = back.begin()->second;
        back.erase(back.begin());
        agent.receive(due.probe.plane, answer_to(due), now);
      }
      while (const auto report = agent.next_report(now)) reports.push_back(*report);
      while (const auto due = agent.next_probe(now)) {
        sent.push_back(*due);
        if (answers(*due)) back.emplace(now + FabricTime::from_us(1), *due);
      }
    }
    now = until;
  }
  FabricTime periods(int64_t n) const { return probe_period(topology) * n; }
};

bool always(const MapperAgent::Due&) { return true; }

}  // namespace

TEST_CASE("an agent sends each probe of its plan once a period, and reports that all came back") {
  AgentBench bench;
  bench.run(bench.periods(5), always);
  REQUIRE(bench.reports.size() == 4);
  const ProbeGrid grid = grid_of(bench.topology);
  size_t at = 0;
  for (uint64_t period = 0; period < 4; ++period) {
    size_t planned = 0;
    for (uint32_t plane = 0; plane < 8; ++plane) {
      planned += probes_of(grid, bench.topology.mapper, 1, plane, period).size();
    }
    const ProbeReport& report = bench.reports[period];
    CHECK(report.period == period);
    CHECK(report.sent == planned);
    CHECK(report.lost.empty());
    CHECK(report.slow.empty());
    for (size_t i = 0; i < planned; ++i, ++at) {
      CHECK(bench.sent[at].tag.sent >= bench.periods(static_cast<int64_t>(period)));
      CHECK(bench.sent[at].tag.sent < bench.periods(static_cast<int64_t>(period + 1)));
    }
  }
}

TEST_CASE("what does not come back is reported as lost, a timeout after the period") {
  AgentBench bench;
  bench.run(bench.periods(3), [](const MapperAgent::Due& due) {
    return due.probe.plane != 3 || due.probe.kind != ProbeKind::kT0;
  });
  REQUIRE(bench.reports.size() == 2);
  CHECK(bench.reports[1].lost == std::vector<std::string>{"p3/t0"});
  CHECK(bench.agent.deadline() > bench.now);
}

TEST_CASE("a probe that comes back after its report is late: the next report takes the loss back") {
  AgentBench bench;
  const auto withheld = [](const MapperAgent::Due& due) { return due.tag.sequence != 2; };
  bench.run(bench.periods(1) + probe_timeout(bench.topology), withheld);
  REQUIRE(bench.reports.size() == 1);
  const std::string name = to_string(bench.sent[2].probe);
  CHECK(bench.reports[0].lost == std::vector{name});
  bench.agent.receive(bench.sent[2].probe.plane, AgentBench::answer_to(bench.sent[2]), bench.now);
  bench.run(bench.periods(3), always);
  CHECK(bench.reports[1].late == ProbeReport::Numbered{{0, name}});
  CHECK(bench.reports[1].forged == 0);
}

TEST_CASE("another nonce, port, form or number is forged, and a second answer comes again") {
  AgentBench bench;
  bench.run(bench.periods(1), always);
  const MapperAgent::Due due = bench.sent[0];
  SeenProbe seen = AgentBench::answer_to(due);
  bench.agent.receive(due.probe.plane, seen, bench.now);  // again
  bench.agent.receive(due.probe.plane + 1, seen, bench.now);
  seen.tag.nonce ^= 1;
  bench.agent.receive(due.probe.plane, seen, bench.now);
  seen = AgentBench::answer_to(due);
  seen.form = ProbeForm::kStamp;
  bench.agent.receive(due.probe.plane, seen, bench.now);
  seen = AgentBench::answer_to(due);
  seen.tag.sequence = 999'999;
  bench.agent.receive(due.probe.plane, seen, bench.now);
  bench.run(bench.periods(2), always);
  REQUIRE_FALSE(bench.reports.empty());
  CHECK(bench.reports[0].again == 1);
  CHECK(bench.reports[0].forged == 4);
  CHECK(bench.reports[0].lost.empty());
}

TEST_CASE("a probe that comes back with wrong bits is lost, and the report says how") {
  AgentBench bench;
  bench.run(bench.periods(1), [](const MapperAgent::Due& due) { return due.tag.sequence != 0; });
  SeenProbe seen = AgentBench::answer_to(bench.sent[0]);
  seen.damaged = true;
  bench.agent.receive(bench.sent[0].probe.plane, seen, bench.now);
  bench.run(bench.periods(2), always);
  REQUIRE_FALSE(bench.reports.empty());
  CHECK(bench.reports[0].lost == std::vector{to_string(bench.sent[0].probe)});
  CHECK(bench.reports[0].damaged == bench.reports[0].lost);
}

TEST_CASE("a dark port sends no probes, and the report has since when") {
  AgentBench bench;
  bench.agent.set_light(4, false, FabricTime::zero());
  bench.run(bench.periods(2), always);
  REQUIRE(bench.reports.size() == 1);
  CHECK(bench.reports[0].dark == ProbeReport::Numbered{{0, "p4"}});
  CHECK(bench.reports[0].unsent == std::vector<std::string>{"p4"});
  for (const MapperAgent::Due& due : bench.sent) CHECK(due.probe.plane != 4);
  bench.agent.set_light(4, true, bench.now);
  const FabricTime back = bench.now;
  bench.run(bench.periods(5), always);
  CHECK(bench.reports[1].unsent.size() == 1);
  CHECK(bench.reports[1].dark.empty());
  CHECK(bench.reports[1].lit == ProbeReport::Numbered{{static_cast<uint64_t>(back.ps()), "p4"}});
  CHECK(bench.reports.back().unsent.empty());
}

TEST_CASE("while its host does not run an agent sends and reports nothing, and then begins anew") {
  AgentBench bench;
  bench.run(bench.periods(2), always);
  bench.agent.set_running(false, bench.now);
  CHECK(bench.agent.deadline() == FabricTime::never());
  CHECK_FALSE(bench.agent.next_probe(bench.periods(9)));
  bench.agent.set_running(true, bench.periods(9));
  const size_t before = bench.reports.size();
  bench.run(bench.periods(12), always);
  REQUIRE(bench.reports.size() > before);
  CHECK(bench.reports[before].period == 10);
  CHECK(bench.reports[before].lost.empty());
}
