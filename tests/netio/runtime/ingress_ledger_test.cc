#include "netio/runtime/ingress_ledger.h"

#include <doctest/doctest.h>

#include "tests/netio/two_processes.h"
#include "tests/support/fabrics.h"

namespace mrclab::netio {
namespace {

/// The ledger of h0, and the one wire that leads to it.
struct HostLedger : TwoProcesses {
  HostLedger() { ledger.add_node(host); }

  /// A tick in which these frames come.
  void tick(std::vector<uint64_t> sequences, LabTime now = LabTime{1}) {
    ledger.read_gate();
    for (const uint64_t sequence : sequences) CHECK(ledger.count_frame(wire, sequence));
    ledger.update_bounds(now);
  }
  FabricTime lookahead_after(int64_t done_ps) const {
    return FabricTime::from_ps(done_ps) + topology.lookahead(wire);
  }

  ProcessMap processes = seen_by(0);
  WireId wire = host_port().in;
  IngressLedger ledger{*page, topology, processes};
};

}  // namespace

TEST_CASE("with all frames there, a wire is bound by what its sender has done and the lookahead") {
  HostLedger of;
  CHECK(of.ledger.sender(of.wire) == 1);
  CHECK(of.ledger.shortest_lookahead() == of.topology.lookahead(of.wire));
  of.say(1, of.wire, 3, 1000);
  of.tick({0, 1, 2});
  CHECK(of.ledger.bound() == of.lookahead_after(1000));
  CHECK(of.ledger.waits_for() == 1);
  CHECK(of.ledger.taken() == 3);
  CHECK(of.ledger.gaps().count == 0);
  of.page->quiet_ps.store(5000);  // the lab's word counts as well
  of.tick({});
  CHECK(of.ledger.bound() == of.lookahead_after(4999));
}

TEST_CASE("a frame that is missing keeps its wire's bound, and is taken once when it comes") {
  HostLedger of;
  of.say(1, of.wire, 1, 1000);
  of.tick({0});
  of.say(1, of.wire, 3, 5000);
  of.tick({2});
  CHECK(of.ledger.bound() == of.lookahead_after(1000));
  CHECK_FALSE(of.ledger.count_frame(of.wire, 2));
  CHECK_FALSE(of.ledger.count_frame(of.wire, 0));
  of.tick({1});
  CHECK(of.ledger.bound() == of.lookahead_after(5000));
  CHECK_FALSE(of.ledger.count_frame(of.wire, 1));
  CHECK(of.ledger.taken() == 3);
  CHECK(of.ledger.gaps().count == 0);
}

TEST_CASE("a frame that came after the gate was read does not wait for its count") {
  HostLedger of;
  of.say(1, of.wire, 1, 1000);
  of.tick({0, 1});
  CHECK(of.ledger.bound() == of.lookahead_after(1000));
}

TEST_CASE("frames that stay away for too long are given up, counted, and refused from then on") {
  constexpr uint64_t kLost = GapList::kMaxListed + 4;
  const LabTime begin{1'000};
  HostLedger of;
  of.say(1, of.wire, 1 + kLost, 1000);
  of.tick({}, begin);
  of.tick({0}, begin + IngressLedger::kGapPatienceNs + 1);  // one more: patience begins anew
  const LabTime last = begin + 2 * IngressLedger::kGapPatienceNs + 1;
  of.tick({}, last);
  CHECK(of.ledger.gaps().count == 0);
  of.tick({}, last + 1);
  CHECK(of.ledger.gaps().count == kLost);
  REQUIRE(of.ledger.gaps().listed.size() == GapList::kMaxListed);
  CHECK(of.ledger.gaps().listed[0].wire == of.wire);
  CHECK(of.ledger.gaps().listed[0].sequence == 1);
  CHECK(of.page->slot(0).gaps.load() == kLost);
  CHECK(of.ledger.taken() == 1 + kLost);
  CHECK_FALSE(of.ledger.count_frame(of.wire, 1));
  of.tick({}, last + 2);
  CHECK(of.ledger.bound() == of.lookahead_after(1000));
}

TEST_CASE("only so many missing frames are remembered: those beyond count as duplicates") {
  constexpr uint64_t kMax = IngressLedger::kMaxMissing;
  HostLedger of;
  CHECK(of.ledger.count_frame(of.wire, kMax + 9));
  CHECK(of.ledger.count_frame(of.wire, kMax - 1));
  CHECK_FALSE(of.ledger.count_frame(of.wire, kMax));
  CHECK(of.ledger.count_frame(of.wire, kMax + 10));
  CHECK(of.ledger.taken() == 3);
}

TEST_CASE("whoever is out of the gate, or never was in it, holds nobody back") {
  HostLedger of;
  of.say(1, of.wire, 3, 1000);
  of.tick({0});
  CHECK_FALSE(of.ledger.complete_until(FabricTime::from_ps(1000)));
  of.page->set_state(1, ProcessState::kReleased);
  of.tick({});
  CHECK(of.ledger.bound() == FabricTime::never());
  CHECK(of.ledger.waits_for() == kNoProcess);
  CHECK(of.ledger.complete_until(FabricTime::from_ps(1000)));

  TwoProcesses two;
  const ProcessMap alone{0, {0, kNoProcess}};
  IngressLedger ledger(*two.page, two.topology, alone);
  ledger.add_node(two.host);
  ledger.read_gate();
  ledger.update_bounds(LabTime{1});
  CHECK(ledger.sender(two.host_port().in) == kNoProcess);
  CHECK(ledger.bound() == FabricTime::never());
}

TEST_CASE("a run is complete when the senders are done up to its end and all frames are there") {
  HostLedger of;
  of.say(1, of.wire, 2, 999);
  of.tick({0, 1});
  CHECK_FALSE(of.ledger.complete_until(FabricTime::from_ps(1000)));
  of.say(1, of.wire, 3, 1000);
  of.tick({});
  CHECK_FALSE(of.ledger.complete_until(FabricTime::from_ps(1000)));
  of.tick({2});
  CHECK(of.ledger.complete_until(FabricTime::from_ps(1000)));
}

TEST_CASE("a successor has received all that its predecessor was sent") {
  HostLedger of;
  of.say(1, of.wire, 7, 1000);
  of.page->slot(0).frames_taken.store(7);
  of.ledger.resume();
  CHECK_FALSE(of.ledger.count_frame(of.wire, 6));
  of.tick({});
  CHECK(of.ledger.bound() == of.lookahead_after(1000));
  CHECK(of.ledger.count_frame(of.wire, 7));
  CHECK(of.ledger.taken() == 8);
}

TEST_CASE("fast wires between the switches of a process do not bound it from outside") {
  Topology topology = mrclab::test::two_rows();
  topology.wires = WireMode::kFast;
  ProcessMap processes{1, std::vector<uint32_t>(topology.nodes.size(), 1)};
  for (const NodeSite& site : topology.nodes) {
    if (site.role == NodeRole::kHost) processes.process_of_node[site.id.value] = 0;
  }
  const auto page = std::make_unique<GatePage>();
  page->process_count = 2;
  page->slot(0).done_ps.store(2000);
  IngressLedger ledger(*page, topology, processes);
  CHECK(ledger.shortest_lookahead_inside() == FabricTime::never());
  const NodeId t1 = topology.t1(0, 0);
  ledger.add_node(t1);  // all its neighbours are T0s
  ledger.read_gate();
  ledger.update_bounds(LabTime{1});
  CHECK(ledger.bound() == FabricTime::never());
  CHECK(ledger.complete_until(FabricTime::from_us(1)));
  CHECK(ledger.shortest_lookahead_inside() != FabricTime::never());
  ledger.add_node(topology.t0(0, 0));  // which has a host as well
  ledger.read_gate();
  ledger.update_bounds(LabTime{1});
  const Port& to_host = topology.port({topology.t0(0, 0), PortId{0}});
  CHECK(ledger.bound() == FabricTime::from_ps(2000) + topology.lookahead(to_host.in));
  CHECK_FALSE(ledger.complete_until(FabricTime::from_us(1)));
}

}  // namespace mrclab::netio
