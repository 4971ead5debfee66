// Who waits for whom, on packets that are written down here: a ring h0 -> h1 -> h2 -> h3 -> h0, in which each host
// passes on what it has got.

#include "analysis/incident/host_waits.h"

#include <doctest/doctest.h>

#include "analysis/incident/wait_history.h"
#include "tests/support/synthetic_traffic.h"

namespace mrclab::analysis {
namespace {

using test::us;

/// One packet a microsecond from each host to the next, each sent when one has arrived, but for what `change` does.
class Ring {
 public:
  Ring() : topology(test::quad()) {}

  void steady(FabricTime from, FabricTime until) {
    for (FabricTime t = from; t < until; t += FabricTime::from_us(1)) {
      for (uint32_t host = 0; host < 4; ++host) send(host, t);
    }
  }
  AwaitedPacket& send(uint32_t host, FabricTime t) {
    packets.push_back({host, (host + 1) % 4, 40'000, t, t + us(1)});
    return packets.back();
  }
  HostWait at(uint32_t host, int64_t t) const {
    return HostWaits(topology, packets).at(host, us(t));
  }

  Topology topology;
  std::vector<AwaitedPacket> packets;
};

TEST_CASE("a ring that turns waits for nobody") {
  Ring ring;
  ring.steady(us(0), us(200));
  for (uint32_t host = 0; host < 4; ++host) {
    CHECK(ring.at(host, 100).reason == WaitReason::kBusy);
    CHECK(ring.at(host, 100).chain.empty());
  }
}

TEST_CASE("who waits for a lost packet's retransmission is named, and who waits for that one") {
  Ring ring;
  ring.steady(us(0), us(100));
  AwaitedPacket& lost = ring.send(0, us(100));  // to h1, which passes nothing on until it has it
  lost.lost = us(101);
  lost.again = us(139);
  lost.delivered = us(140);
  lost.where = *ring.topology.find_port("p0.t0-0:d1");
  ring.send(1, us(141));
  ring.send(2, us(143));
  ring.send(3, us(145));
  ring.steady(us(150), us(250));
  const HostWait near = ring.at(1, 130), far = ring.at(3, 130);
  CHECK(near.reason == WaitReason::kRetransmission);
  CHECK(near.chain == std::vector<uint32_t>{0});
  CHECK(near.packets == 1);
  CHECK(near.not_again == 1);
  CHECK(near.until == us(140));
  CHECK(far.reason == WaitReason::kRetransmission);
  CHECK(far.chain == std::vector<uint32_t>{2, 1, 0});
  CHECK(
      to_string(ring.topology, far) ==
      "h3 receives 0 %: it waits for h2, which waits for h1, which waits for 1 packet of h0 that was lost at "
      "p0.t0-0:d1 from 101us on and is not retransmitted yet, to arrive at 140us");
  // Once it is on its way again, the words are others.
  CHECK(
      to_string(ring.topology, ring.at(1, 139)).find("and is retransmitted, to arrive at 140us") !=
      std::string::npos);
}

TEST_CASE(
    "a sender that waits for nothing, one that is silent and a host without senders are told apart") {
  Ring ring;
  ring.send(0, us(10));
  ring.send(0, us(150));
  const HostWait own = ring.at(1, 100);
  CHECK(own.reason == WaitReason::kOwnPace);
  CHECK(own.until == us(150));
  CHECK(ring.at(1, 300).reason == WaitReason::kSilent);
  CHECK(ring.at(2, 100).reason == WaitReason::kNoData);
  CHECK(to_string(ring.topology, ring.at(2, 100)) ==
        "h2 receives 0 %: nobody sends it data by the end");
}

TEST_CASE("what was sent and not lost is under way, and what never arrives has no instant") {
  Ring ring;
  ring.send(0, us(10)).delivered = us(90);
  CHECK(ring.at(1, 50).reason == WaitReason::kUnderWay);
  CHECK(ring.at(1, 50).since == us(10));
  ring.packets[0].lost = us(20);
  ring.packets[0].delivered = FabricTime::never();
  CHECK(ring.at(1, 50).reason == WaitReason::kRetransmission);
  CHECK(to_string(ring.topology, ring.at(1, 50)).ends_with("; not all arrive by the end"));
  // Where packets are known up to an instant alone, no more is stated.
  const HostWait known = HostWaits(ring.topology, ring.packets, us(60)).at(1, us(50));
  CHECK(to_string(ring.topology, known).ends_with("; not all arrive by 60us"));
}

TEST_CASE("hosts that wait for one another in a circle end the search") {
  Ring ring;
  ring.steady(us(0), us(20));
  // Each sends when the one before it has: after a pause that nothing explains, all at the same time.
  for (uint32_t host = 0; host < 4; ++host) ring.send(host, us(100 + 2 * host));
  ring.send(0, us(108));
  const HostWait wait = ring.at(1, 60);
  CHECK(wait.chain.size() <= 4);
  CHECK((wait.reason == WaitReason::kOwnPace || wait.reason == WaitReason::kCircle));
}

TEST_CASE("a history's waits are spans, and one line for hosts that wait for the same") {
  const Topology topology = test::quad();
  test::AnalyzedRun run(topology, "waits");
  test::ScriptedTraffic traffic;
  traffic.flows = {{0, 2}};
  // From 400 us on all that h0 sends is lost at the T0 of h2.
  traffic.lost = [](const test::SyntheticRun::Sent& s) { return s.start >= us(400); };
  traffic.write(run.run);
  const Analysis analysis = run.analyze();
  REQUIRE(!analysis.waits.empty());
  for (const WaitSpan& span : analysis.waits) {
    CHECK(span.wait.host == 2);
    CHECK(span.wait.chain == std::vector<uint32_t>{0});
    CHECK(span.wait.reason == WaitReason::kRetransmission);
  }
  const std::vector<WaitLine> lines = wait_lines(topology, analysis.waits);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].text.starts_with("h2 received next to nothing at times from here to "));
  CHECK(analysis.picture.find("it waits for") != std::string::npos);
}

}  // namespace
}  // namespace mrclab::analysis
