// Heard links against planned ones: circles of cables, their exchanges, what is missing.

#include "analysis/orchestrator/cabling_difference.h"

#include <doctest/doctest.h>

#include "fabric/topology/fabric_file.h"
#include "fabric/topology/topology_builder.h"

using namespace mrclab;
using namespace mrclab::analysis;

namespace {

using Hearing = std::vector<std::vector<PortHearing>>;

Topology octet_like(const std::string& more = "") {
  return build_topology(parse_fabric(
      read_yaml_text("name: f\nplanes: 1\nt0: 3\nt1: 4\nhosts_per_t0: 2\n" + more, "f")));
}

/// Each port hears whom its cable leads to.
Hearing all_heard(const Topology& t) {
  Hearing hearing(t.nodes.size());
  for (const NodeSite& site : t.nodes) {
    for (const Port& port : site.ports) {
      hearing[site.id.value].push_back({port.peer, {}, FabricTime::from_us(1)});
    }
  }
  return hearing;
}

PortHearing& at(Hearing& hearing, const Topology& t, const char* port) {
  const PortRef ref = t.find_port(port).value();
  return hearing[ref.node.value][ref.port.value];
}

}  // namespace

TEST_CASE("a fabric that is cabled as planned has no finding") {
  const Topology t = octet_like();
  CHECK(cabling_difference(t, all_heard(t)).empty());
}

TEST_CASE("two crossed cables are one finding, and one exchange at one switch mends it") {
  const Topology t = octet_like("miscabled: [[\"p0.t0-1:u2\", \"p0.t0-1:u3\"]]\n");
  const auto found = cabling_difference(t, all_heard(t));
  REQUIRE(found.size() == 1);
  CHECK(found[0].kind == FindingKind::kMiscabled);
  CHECK(found[0].sentences ==
        std::vector<std::string>{"p0.t0-1:u2 is cabled to p0.t1-3:d1, planned p0.t1-2:d1",
                                 "p0.t0-1:u3 is cabled to p0.t1-2:d1, planned p0.t1-3:d1"});
  CHECK(found[0].remedies ==
        std::vector<std::string>{"exchange the cables in p0.t0-1:u2 and p0.t0-1:u3"});
}

TEST_CASE("the exchanges that are proposed make every circle of cables the plan again") {
  // Circles of 2, 3 and 4 cables, through several switches and through hosts.
  for (const auto& [pairs, exchanges] : std::vector<std::pair<std::string, size_t>>{
           {"[[\"p0.t0-0:u0\", \"p0.t0-1:u1\"]]", 1},
           {"[[\"p0.t1-0:d0\", \"p0.t1-0:d2\"]]", 1},
           {"[[\"h0:p0\", \"h3:p0\"], [\"p0.t0-0:u0\", \"p0.t0-2:u3\"]]", 2}}) {
    Topology t = octet_like("miscabled: " + pairs + "\n");
    const auto found = cabling_difference(t, all_heard(t));
    size_t count = 0;
    const auto replugged = t.replugged;
    t.replugged.clear();  // so that an exchange may be undone
    for (const OrchestratorFinding& finding : found) {
      for (const std::string& remedy : finding.remedies) {
        ++count;
        const size_t in = remedy.find(" in ") + 4, and_at = remedy.find(" and ");
        FabricShape one;
        one.miscabled = {{remedy.substr(in, and_at - in), remedy.substr(and_at + 5)}};
        swap_cables(one, t);
        t.replugged.clear();
      }
    }
    CHECK(count == exchanges);
    t.replugged = replugged;
    CHECK(cabling_difference(t, all_heard(t)).empty());
  }
}

TEST_CASE("a circle of four cables is mended by three exchanges, and an open one by a move") {
  const Topology t = octet_like();
  Hearing hearing = all_heard(t);
  const auto plug = [&](PortRef a, PortRef b) {
    hearing[a.node.value][a.port.value].peer = b;
    hearing[b.node.value][b.port.value].peer = a;
  };
  const auto named = [&](const std::string& name) { return t.find_port(name).value(); };
  for (const int u : {0, 1, 2, 3}) {  // uplink u leads to the T1 beside its own
    plug(named("p0.t0-0:u" + std::to_string(u)),
         named("p0.t1-" + std::to_string((u + 1) % 4) + ":d0"));
  }
  const auto found = cabling_difference(t, hearing);
  REQUIRE(found.size() == 1);
  CHECK(found[0].sentences.size() == 4);
  REQUIRE(found[0].remedies.size() == 3);
  for (const std::string& remedy : found[0].remedies) {
    const size_t in = remedy.find(" in ") + 4, and_at = remedy.find(" and ");
    const PortRef one = named(remedy.substr(in, and_at - in)),
                  other = named(remedy.substr(and_at + 5));
    const PortRef of_one = *hearing[one.node.value][one.port.value].peer;
    plug(one, *hearing[other.node.value][other.port.value].peer);
    plug(other, of_one);
  }
  CHECK(cabling_difference(t, hearing).empty());
  // A cable to T1 0 is in the port of T0 1, whose own cable is in no port.
  plug(named("p0.t0-0:u0"), named("p0.t1-0:d1"));
  at(hearing, t, "p0.t1-0:d0").peer.reset();
  at(hearing, t, "p0.t0-1:u0").peer.reset();
  const auto open = cabling_difference(t, hearing);
  REQUIRE(open.size() == 1);
  CHECK(open[0].remedies == std::vector<std::string>{"move the cable in p0.t1-0:d1 to p0.t1-0:d0"});
}

TEST_CASE("silence, a deaf end and a stranger are named each as what it is") {
  const Topology t = octet_like();
  Hearing hearing = all_heard(t);
  at(hearing, t, "p0.t0-0:u0").peer.reset();
  at(hearing, t, "p0.t1-0:d0").peer.reset();
  at(hearing, t, "p0.t1-1:d0").peer.reset();
  at(hearing, t, "p0.t0-2:d1") = {{}, "printer:eth0", FabricTime::from_us(2)};
  const auto found = cabling_difference(t, hearing);
  std::vector<FindingKind> kinds;
  for (const OrchestratorFinding& finding : found) kinds.push_back(finding.kind);
  CHECK(kinds == std::vector{FindingKind::kMissing, FindingKind::kOneWay, FindingKind::kUnknown});
  CHECK(found[2].sentences[0].find("printer:eth0") != std::string::npos);
}
